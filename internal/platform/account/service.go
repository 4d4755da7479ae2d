package account

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/password"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection/landing"
)

// Store keeps accounts, users, links and sessions. Changes and their audit
// entries are one transaction.
type Store interface {
	// InsertAccount returns account_exists (Conflict) for a name that is taken.
	InsertAccount(ctx context.Context, a *Account, owner *User, e audit.Entry) error
	// Accounts returns all accounts by name.
	Accounts(ctx context.Context) ([]*Account, error)
	// AccountByName returns account_not_found (NotFound).
	AccountByName(ctx context.Context, name string) (*Account, error)
	// SetDisabled disables an account from a time on, or enables it (zero), and
	// records the entry if that changes anything.
	SetDisabled(ctx context.Context, accountID string, at time.Time, e audit.Entry) error
	// Account returns account_not_found (NotFound).
	Account(ctx context.Context, id string) (*Account, error)
	// Users returns the users of an account, oldest first.
	Users(ctx context.Context, accountID string) ([]*User, error)
	// UserByEmail, UserByID and UserBySubject answer nil where there is none, and the kept
	// digest of the password beside the user.
	UserByEmail(ctx context.Context, email string) (u *User, passwordHash string, err error)
	UserByID(ctx context.Context, id string) (u *User, passwordHash string, err error)
	UserBySubject(ctx context.Context, subject string) (*User, error)
	// OwnerOf returns like UserByEmail the oldest owner of an account, by name.
	OwnerOf(ctx context.Context, account string) (u *User, passwordHash string, err error)
	// SetPassword stores a digest and ends the user's other sessions.
	SetPassword(ctx context.Context, userID, hash, keepSession string, e audit.Entry) error
	// SetSubject links a user to an identity of the OpenID provider.
	SetSubject(ctx context.Context, userID, subject string, e audit.Entry) error
	// ChargeSignIn counts an attempt with each of the charges, or with none of them
	// if one may not be made yet: then it returns how long to wait. Of callers at
	// the same time each sees the charges of those before. A count ends when nothing
	// was tried for forget. It returns how often the last charge has failed in a row,
	// this attempt included.
	ChargeSignIn(ctx context.Context, now time.Time, forget time.Duration, charges ...Charge) (failures int,
		wait time.Duration, err error)
	// FailSignIn records that an attempt failed. It takes the same time with and
	// without entries.
	FailSignIn(ctx context.Context, subject string, entries ...audit.Entry) error
	// SettleSignIn ends the counts of an attempt that was right.
	SettleSignIn(ctx context.Context, subjects ...string) error

	// InsertLink keeps the digest of a one-time link.
	InsertLink(ctx context.Context, digest, userID string, expires time.Time, e audit.Entry) error
	// TakeLink ends a link and returns the user that it signs in: nil if it is unknown,
	// used or too old. Of callers at the same time one succeeds.
	TakeLink(ctx context.Context, digest string, now time.Time) (*User, error)

	InsertSession(ctx context.Context, s *Session, expires time.Time, e audit.Entry) error
	// Session returns nil for one that is unknown or has ended, or whose account is
	// disabled.
	Session(ctx context.Context, digest string, now time.Time, idle time.Duration) (*Session, error)
	// RedirectURLs returns an account's list; account_not_found (NotFound).
	RedirectURLs(ctx context.Context, accountID string) ([]string, error)
	// ChangeRedirectURLs keeps what change makes of the list; nobody else changes
	// it meanwhile. Without an action the entry, and the list, are not kept.
	ChangeRedirectURLs(ctx context.Context, accountID string,
		change func(list []string) ([]string, audit.Entry, error)) error
	// Sessions returns the live sessions of a user, the latest used first.
	Sessions(ctx context.Context, userID string, now time.Time, idle time.Duration) ([]*Session, error)
	// EndSession ends the session of a user with a public id; session_not_found
	// (NotFound) if it is not there.
	EndSession(ctx context.Context, userID, publicID string, e audit.Entry) error
	// EndOtherSessions ends all sessions of a user but one, by its digest.
	EndOtherSessions(ctx context.Context, userID, keepSession string, e audit.Entry) error
	TouchSession(ctx context.Context, digest string, now time.Time) error
	DeleteSession(ctx context.Context, digest string, e audit.Entry) error
}

const (
	accountPrefix = "acc"
	userPrefix    = "usr"

	sessionPrefix = "ses"

	blockAfter  = 10 // wrong passwords in a row
	blockFor    = 15 * time.Minute
	touchEvery  = 5 * time.Minute
	minPassword = 12
	maxPassword = 256 // bytes
)

// Service makes accounts and signs people in. It is safe for concurrent use.
type Service struct {
	store  Store
	hasher *password.Hasher
	mac    func(label string, parts ...[]byte) string
}

// New returns a service. mac is a keyed digest, for example seal.Sealer.MAC.
func New(store Store, hasher *password.Hasher, mac func(label string, parts ...[]byte) string) *Service {
	return &Service{store, hasher, mac}
}

var nameShape = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// Create makes an account and its owner. The e-mail may be empty: the owner
// then signs in by links alone. The problems are invalid_account_name and
// invalid_email (Invalid) and account_exists (Conflict).
func (s *Service) Create(ctx context.Context, by audit.Actor, name, email string) (*Account, *User, error) {
	if !nameShape.MatchString(name) {
		return nil, nil, problem.New(problem.Invalid, "invalid_account_name",
			"The name of an account has 1 to 40 lower-case letters, digits, - and _.").At("/name")
	}
	email, err := cleanEmail(email)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	a := &Account{ID: typeid.New(accountPrefix), Name: name, CreatedAt: now}
	u := &User{ID: typeid.New(userPrefix), AccountID: a.ID, Email: email, Name: name, Role: Owner, CreatedAt: now}
	if err := s.store.InsertAccount(ctx, a,
		u, audit.New(a.ID, by, "account.created", a.ID, map[string]string{"name": name})); err != nil {
		return nil, nil, err
	}
	return a, u, nil
}

func cleanEmail(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return "", nil
	}
	if at, err := mail.ParseAddress(text); err != nil || at.Address != text || len(text) > 254 {
		return "", problem.New(problem.Invalid, "invalid_email", "This is not an e-mail address.").At("/email")
	}
	return text, nil
}

// List returns all accounts, for the operator.
func (s *Service) List(ctx context.Context) ([]*Account, error) { return s.store.Accounts(ctx) }

// ByName returns an account; account_not_found (NotFound) otherwise.
func (s *Service) ByName(ctx context.Context, name string) (*Account, error) {
	return s.store.AccountByName(ctx, name)
}

// Disable ends everything that an account may do: its keys and sign-ins are
// refused from now on, and nothing is deleted. Its problem is account_not_found.
func (s *Service) Disable(ctx context.Context, by audit.Actor, name string) (*Account, error) {
	return s.setDisabled(ctx, by, name, time.Now().UTC().Truncate(time.Millisecond), "account.disabled")
}

// Enable takes Disable back. Its problem is account_not_found.
func (s *Service) Enable(ctx context.Context, by audit.Actor, name string) (*Account, error) {
	return s.setDisabled(ctx, by, name, time.Time{}, "account.enabled")
}

func (s *Service) setDisabled(ctx context.Context, by audit.Actor, name string, at time.Time,
	action string,
) (*Account, error) {
	a, err := s.store.AccountByName(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.store.SetDisabled(ctx, a.ID, at, audit.New(a.ID, by, action, a.ID, nil)); err != nil {
		return nil, err
	}
	return s.store.Account(ctx, a.ID)
}

// ByID returns an account; account_not_found (NotFound) otherwise.
func (s *Service) ByID(ctx context.Context, id string) (*Account, error) {
	return s.store.Account(ctx, id)
}

// Users returns the users of an account, oldest first.
func (s *Service) Users(ctx context.Context, accountID string) ([]*User, error) {
	return s.store.Users(ctx, accountID)
}

// RedirectURLs are where sign-ins of an account may send browsers afterwards;
// empty: anywhere.
func (s *Service) RedirectURLs(ctx context.Context, accountID string) ([]string, error) {
	return s.store.RedirectURLs(ctx, accountID)
}

// SetRedirectURLs changes where sign-ins of an account may send browsers, as
// landing.Entries takes it, and returns the list that counts. Its problems are
// invalid_request and account_not_found.
func (s *Service) SetRedirectURLs(ctx context.Context, by audit.Actor, accountID string,
	given []string,
) ([]string, error) {
	list, err := landing.Entries(given)
	if err != nil {
		return nil, err
	}
	return list, s.store.ChangeRedirectURLs(ctx, accountID, func([]string) ([]string, audit.Entry, error) {
		return list, redirectsSet(by, accountID, list), nil
	})
}

// EditRedirectURLs adds addresses to the list of an account and takes others off
// it, whatever others do to the list at the same time, and returns the list that
// counts. Its problems are those of SetRedirectURLs; taking off what is not there
// is invalid_request.
func (s *Service) EditRedirectURLs(ctx context.Context, by audit.Actor, accountID string,
	add, remove []string,
) (list []string, err error) {
	err = s.store.ChangeRedirectURLs(ctx, accountID, func(before []string) ([]string, audit.Entry, error) {
		list = slices.Clone(before)
		for _, text := range remove {
			entry, err := landing.Entries([]string{text})
			if err != nil {
				return nil, audit.Entry{}, err
			}
			at := slices.Index(list, entry[0])
			if at < 0 {
				return nil, audit.Entry{}, problem.New(problem.Invalid, "invalid_request",
					"This address is not on the list. It may have been taken off already.").At("/remove")
			}
			list = slices.Delete(list, at, at+1)
		}
		var err error
		if list, err = landing.Entries(append(list, add...)); err != nil || slices.Equal(list, before) {
			return nil, audit.Entry{}, err
		}
		return list, redirectsSet(by, accountID, list), nil
	})
	return list, err
}

func redirectsSet(by audit.Actor, accountID string, list []string) audit.Entry {
	return audit.New(accountID, by, "account.redirect_urls_set", accountID,
		map[string]string{"redirect_urls": strings.Join(list, " ")})
}

// Link makes a one-time secret that signs the account's first owner in, for a
// quarter of an hour. It is kept as a digest only.
func (s *Service) Link(ctx context.Context, by audit.Actor, accountID string) (secret string, expires time.Time,
	err error,
) {
	users, err := s.store.Users(ctx, accountID)
	if err != nil {
		return "", time.Time{}, err
	}
	for _, u := range users {
		if u.Role != Owner {
			continue
		}
		secret, expires = newSecret(), time.Now().UTC().Add(LinkLifetime).Truncate(time.Millisecond)
		return secret, expires, s.store.InsertLink(ctx, s.digest("sign-in link", secret), u.ID, expires,
			audit.New(accountID, by, "sign_in.link_made", u.ID, nil))
	}
	return "", time.Time{}, fmt.Errorf("account %s has no owner", accountID)
}

// Redeem signs in by a link, once. It returns link_invalid (Gone).
func (s *Service) Redeem(ctx context.Context, by audit.Actor, secret string) (*Session, string, error) {
	u, err := s.store.TakeLink(ctx, s.digest("sign-in link", secret), time.Now())
	if err != nil {
		return nil, "", err
	}
	if u == nil {
		return nil, "", problem.New(problem.Gone, "link_invalid",
			`This sign-in link was used already or is too old. Make a new one with "ace account link".`)
	}
	return s.startSession(ctx, by, u, ByLink)
}

// SignIn signs in by password: a person by e-mail address, the owner of an
// account also by its name, since an owner made on the command line may have no
// address. Whatever is wrong, it returns the same sign_in_refused
// (Unauthenticated) in about the same time; sign_in_blocked (RateLimited) after
// too many wrong passwords.
func (s *Service) SignIn(ctx context.Context, by audit.Actor, name, secret string) (*Session, string, error) {
	refused := problem.New(problem.Unauthenticated, "sign_in_refused",
		"E-mail address, account name or password is wrong. Without a password, ask for a sign-in link.")
	find := s.store.UserByEmail
	name = strings.ToLower(strings.TrimSpace(name))
	if !strings.Contains(name, "@") {
		find = s.store.OwnerOf
	}
	u, hash, err := find(ctx, name)
	if err != nil {
		return nil, "", err
	}
	subject := name
	if u != nil {
		subject = u.ID // a user may be named in two ways
	}
	attempt, err := s.charge(ctx, subject, by)
	if err != nil {
		return nil, "", err
	}
	if len(secret) > maxPassword {
		secret, hash = "", ""
	}
	right, err := s.hasher.Verify(ctx, hash, secret)
	if err != nil {
		return nil, "", err
	}
	if u == nil || !right {
		if err := s.failed(ctx, by, u, attempt); err != nil {
			return nil, "", err
		}
		return nil, "", refused
	}
	if err := s.store.SettleSignIn(ctx, attempt.everywhere, attempt.here); err != nil {
		return nil, "", err
	}
	return s.startSession(ctx, by, u, ByPassword)
}

// attempt is one that was charged.
type attempt struct {
	everywhere, here string // subjects of the charges
	failures         int    // in a row, from everywhere, if this one fails
}

// charge counts an attempt to prove to be somebody by a password, before the
// password is looked at. Its problem is sign_in_blocked (RateLimited).
func (s *Service) charge(ctx context.Context, subject string, by audit.Actor) (attempt, error) {
	here := [...]time.Duration{ // for one network: fewer attempts than those that block the user
		0, 0, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, blockFor,
	}
	everywhere := [blockAfter]time.Duration{blockAfter - 1: blockFor}
	a := attempt{
		everywhere: s.mac("sign-in attempts", []byte(subject)),
		here:       s.mac("sign-in attempts", []byte(subject), []byte(networkOf(by.IP))),
	}
	failures, wait, err := s.store.ChargeSignIn(ctx, time.Now(), blockFor, Charge{a.here, here[:]},
		Charge{a.everywhere, everywhere[:]})
	if err == nil && wait > 0 {
		err = problem.New(problem.RateLimited, "sign_in_blocked",
			"Too many wrong passwords. Try again later, or use a sign-in link.").After(wait)
	}
	a.failures = failures
	return a, err
}

// failed records a wrong password; u is nil where nobody has the name.
func (s *Service) failed(ctx context.Context, by audit.Actor, u *User, a attempt) error {
	if u == nil {
		return s.store.FailSignIn(ctx, a.everywhere)
	}
	by.Kind = audit.BySystem // who tried is not known
	entries := []audit.Entry{audit.New(u.AccountID, by, "sign_in.failed", u.ID, nil)}
	if a.failures == blockAfter {
		entries = append(entries, audit.New(u.AccountID, by, "sign_in.blocked", u.ID, nil))
	}
	return s.store.FailSignIn(ctx, a.everywhere, entries...)
}

// networkOf is the network of one customer: an IPv4 address, or the /64 of an
// IPv6 address.
func networkOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is4() {
		return address
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return address
	}
	return network.String()
}

// SignInIdentity signs in whom the operator's OpenID provider vouches for:
// the user linked to the subject, or else the one with the verified e-mail,
// who is linked from then on. It returns user_unknown (Forbidden).
func (s *Service) SignInIdentity(ctx context.Context, by audit.Actor, issuer, subject, verifiedEmail string) (*Session,
	string, error,
) {
	identity := issuer + " " + subject
	u, err := s.store.UserBySubject(ctx, identity)
	if err != nil {
		return nil, "", err
	}
	if u == nil && strings.Contains(verifiedEmail, "@") {
		if u, _, err = s.store.UserByEmail(ctx, strings.ToLower(verifiedEmail)); err != nil {
			return nil, "", err
		}
		if u != nil && u.Subject != "" {
			u = nil // linked to another identity: an address alone does not replace it
		}
		if u != nil {
			if err := s.store.SetSubject(ctx, u.ID, identity,
				audit.New(u.AccountID, by, "user.linked", u.ID, nil)); err != nil {
				return nil, "", err
			}
		}
	}
	if u == nil {
		return nil, "", problem.New(problem.Forbidden, "user_unknown",
			"Nobody here has this identity. Ask the owner of the account to add your e-mail address.")
	}
	return s.startSession(ctx, by, u, ByIdentity)
}

func (s *Service) startSession(ctx context.Context, by audit.Actor, u *User, method string) (*Session, string, error) {
	secret := newSecret()
	now := time.Now().UTC().Truncate(time.Millisecond)
	session := &Session{
		ID: s.digest("session", secret), PublicID: typeid.New(sessionPrefix), Method: method, Address: by.IP, User: *u,
		Token: newSecret(), CreatedAt: now, SeenAt: now,
	}
	by.Kind, by.ID, by.Name = audit.ByUser, u.ID, u.Name
	entry := audit.New(u.AccountID, by, "session.begun", u.ID, map[string]string{"method": method})
	if err := s.store.InsertSession(ctx, session, now.Add(SessionLifetime), entry); err != nil {
		return nil, "", err
	}
	session, err := s.Session(ctx, secret)
	if err == nil && session == nil {
		err = problem.New(problem.Forbidden, "account_disabled",
			"This account is disabled. Ask the operator of this platform.")
	}
	return session, secret, err
}

// Session returns who a session's secret stands for, or nil.
func (s *Service) Session(ctx context.Context, secret string) (*Session, error) {
	if secret == "" {
		return nil, nil
	}
	now := time.Now()
	session, err := s.store.Session(ctx, s.digest("session", secret), now, SessionIdle)
	if err != nil || session == nil {
		return nil, err
	}
	if now.Sub(session.SeenAt) > touchEvery {
		if err := s.store.TouchSession(ctx, session.ID, now); err != nil {
			return nil, err
		}
	}
	return session, nil
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, by audit.Actor, session *Session) error {
	return s.store.DeleteSession(ctx, session.ID,
		audit.New(session.Account.ID, by, "session.ended", session.User.ID, nil))
}

// Sessions returns where the person of a session is signed in, the latest used
// first.
func (s *Service) Sessions(ctx context.Context, session *Session) ([]*Session, error) {
	return s.store.Sessions(ctx, session.User.ID, time.Now(), SessionIdle)
}

// EndSession ends another session of the same person; session_not_found
// (NotFound).
func (s *Service) EndSession(ctx context.Context, by audit.Actor, session *Session, publicID string) error {
	return s.store.EndSession(ctx, session.User.ID, publicID,
		audit.New(session.Account.ID, by, "session.ended", session.User.ID, map[string]string{"session": publicID}))
}

// EndOtherSessions ends all other sessions of the same person.
func (s *Service) EndOtherSessions(ctx context.Context, by audit.Actor, session *Session) error {
	return s.store.EndOtherSessions(ctx, session.User.ID, session.ID,
		audit.New(session.Account.ID, by, "session.others_ended", session.User.ID, nil))
}

// SetPassword gives the person of a session a password and ends that person's
// other sessions. The person proves to be there by the password so far, or has
// signed in by a link a short while ago: a browser that was left open is not
// enough. It returns invalid_password (Invalid), password_wrong (Unprocessable),
// sign_in_blocked (RateLimited) and fresh_sign_in_required (Forbidden).
func (s *Service) SetPassword(ctx context.Context, by audit.Actor, session *Session, old, secret string) error {
	if n := utf8.RuneCountInString(secret); n < minPassword || len(secret) > maxPassword {
		return problem.New(problem.Invalid, "invalid_password",
			"A password has at least 12 characters and at most 256 bytes. A few words that nobody else would put "+
				"together make a good one.").At("/password")
	}
	known, err := s.hasher.Known(secret, session.Account.Name, session.User.Email, session.User.Name)
	if err != nil {
		return err
	}
	if known {
		return problem.New(problem.Invalid, "invalid_password",
			"This password is one of those that are guessed first. A few words that nobody else would put together "+
				"make a good one.").At("/password")
	}
	if err := s.present(ctx, by, session, old); err != nil {
		return err
	}
	hash, err := s.hasher.Hash(ctx, secret)
	if err != nil {
		return err
	}
	return s.store.SetPassword(ctx, session.User.ID, hash, session.ID,
		audit.New(session.Account.ID, by, "user.password_set", session.User.ID, nil))
}

// present finds out whether the person of a session is there.
func (s *Service) present(ctx context.Context, by audit.Actor, session *Session, password string) error {
	if session.FreshAt(time.Now()) {
		return nil
	}
	if !session.User.HasPassword {
		return problem.New(problem.Forbidden, "fresh_sign_in_required",
			"Sign in by a new link first, and set the password within a quarter of an hour.")
	}
	_, hash, err := s.store.UserByID(ctx, session.User.ID)
	if err != nil {
		return err
	}
	attempt, err := s.charge(ctx, session.User.ID, by)
	if err != nil {
		return err
	}
	if len(password) > maxPassword {
		password, hash = "", ""
	}
	right, err := s.hasher.Verify(ctx, hash, password)
	if err != nil {
		return err
	}
	if !right {
		if err := s.failed(ctx, by, &session.User, attempt); err != nil {
			return err
		}
		return problem.New(
			problem.Unprocessable,
			"password_wrong",
			"This is not your password so far. If it is lost, sign in by a new link: then none is needed.",
		).At("/old_password")
	}
	return s.store.SettleSignIn(ctx, attempt.everywhere, attempt.here)
}

func (s *Service) digest(label, secret string) string { return s.mac(label, []byte(secret)) }

// newSecret makes 256 random bits for an address or a cookie.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail
	return base64.RawURLEncoding.EncodeToString(b[:])
}
