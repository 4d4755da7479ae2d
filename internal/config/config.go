// Package config defines all settings of ACE in one struct.
//
//	flag > environment (ACE_…) > settings file > default
//
// The struct's tags are the flags, the variables, the help and the page docs/configuration.md,
// which a test compares. The errors of Check name the setting and the fix.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Settings are the settings of a server. The defaults run a complete development environment.
type Settings struct {
	StoreAddr    string         `env:"ACE_STORE_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address that the store listens on." group:"Addresses"`
	PlatformAddr string         `env:"ACE_PLATFORM_ADDR" default:"127.0.0.1:8081" placeholder:"HOST:PORT" help:"Address that the platform listens on." group:"Addresses"`
	SandboxAddr  string         `env:"ACE_SANDBOX_ADDR" default:"127.0.0.1:8082" placeholder:"HOST:PORT" help:"Address that the sandbox listens on." group:"Addresses"`
	AdminAddr    string         `env:"ACE_ADMIN_ADDR" default:"127.0.0.1:9464" placeholder:"HOST:PORT" help:"Address of health checks, metrics and profiles; do not expose it. Empty: none." group:"Addresses"`
	AdminToken   string         `env:"ACE_ADMIN_TOKEN_FILE" name:"admin-token-file" placeholder:"FILE" help:"File with the bearer token for profiles, of 16 characters or more. Needed if ACE_ADMIN_ADDR is not on loopback." group:"Addresses"`
	DrainDelay   *time.Duration `env:"ACE_DRAIN_DELAY" placeholder:"TIME" help:"How long the hosts go on listening after the signal to stop, so that a balancer notices that they are not ready; at most 15s. Default: 5s, or 0s if they listen on loopback alone." group:"Addresses"`
	StoreURL     string         `env:"ACE_STORE_URL" placeholder:"URL" help:"Public URL of the store, without a trailing slash. Default: http:// and the listening address." group:"Addresses"`
	PlatformURL  string         `env:"ACE_PLATFORM_URL" placeholder:"URL" help:"Public URL of the platform, without a trailing slash. Default: http:// and the listening address." group:"Addresses"`
	SandboxURL   string         `env:"ACE_SANDBOX_URL" placeholder:"URL" help:"URL of the sandbox for browsers. Default: http:// and the listening address." group:"Addresses"`

	Hosts          []string `env:"ACE_HOSTS" enum:"store,platform" default:"store,platform" help:"Hosts that this process serves (${enum})." group:"Addresses"`
	TrustedProxies []string `env:"ACE_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Networks of proxies in front of the hosts: they name the client in ACE_PROXY_HEADER." group:"Addresses"`
	ProxyHeader    string   `env:"ACE_PROXY_HEADER" enum:"X-Forwarded-For,Forwarded" default:"X-Forwarded-For" help:"Header in which the trusted proxies write the address of the client (${enum}). If it is malformed, or the other one names another client, the address is unknown: keys restricted to networks are then refused." group:"Addresses"`
	DevTLS         bool     `env:"ACE_DEV_TLS" name:"dev-tls" help:"Serve https with a certificate created at the first start, for development." group:"Addresses"`

	DataDir     string `env:"ACE_DATA_DIR" default:"./data" placeholder:"DIR" help:"Folder of the embedded database, keys and the control socket." group:"Storage"`
	DatabaseURL string `env:"ACE_DATABASE_URL" placeholder:"URL" help:"postgres://… to run several replicas. Default: SQLite in the data folder." group:"Storage"`
	MasterKey   string `env:"ACE_MASTER_KEY_FILE" placeholder:"FILE" help:"File with the 32-byte key-encryption key, the same on every replica. Default: master.key in the data folder, created at the first start." group:"Storage"`

	KEKURL          string `env:"ACE_KEK_URL" name:"kek-url" placeholder:"URL" help:"Key-encryption key, the same on every replica: file:///PATH (32 bytes), env://NAME (base64 of 32 bytes), or hcvault://HOST:8200/transit/keys/NAME for Transit of HashiCorp Vault or OpenBao. Default: the master key file." group:"Storage"`
	KEKTokenFile    string `env:"ACE_KEK_TOKEN_FILE" name:"kek-token-file" placeholder:"FILE" help:"File with the token for that service; read for each call." group:"Storage"`
	KEKOldURL       string `env:"ACE_KEK_OLD_URL" name:"kek-old-url" placeholder:"URL" help:"Previous key-encryption key, while ACE_KEK_URL changes: see ace vault rewrap." group:"Storage"`
	KEKOldTokenFile string `env:"ACE_KEK_OLD_TOKEN_FILE" name:"kek-old-token-file" placeholder:"FILE" help:"File with the token for the service of the previous key." group:"Storage"`

	StripeKey            string   `env:"ACE_STRIPE_API_KEY" placeholder:"KEY" help:"Secret key of the Stripe account. Turns the sandbox off." group:"Payments"`
	StripeWebhookSecrets []string `env:"ACE_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET,…" help:"Signing secret of the Stripe webhook endpoint for /webhooks/stripe; two during a rotation." group:"Payments"`
	StripeURL            string   `env:"ACE_STRIPE_URL" placeholder:"URL" help:"URL of the payment processor's API. Default: Stripe's, or the sandbox's." group:"Payments"`
	StripeOffers         string   `env:"ACE_STRIPE_OFFERS" enum:"marked,all" default:"marked" help:"Which active prices are for sale: those with the metadata agent_offer=true (${enum})." group:"Payments"`
	AutomaticTax         bool     `env:"ACE_STRIPE_AUTOMATIC_TAX" help:"Let the processor compute tax on the payment page." group:"Payments"`
	Sandbox              string   `env:"ACE_SANDBOX" enum:"auto,on,off" default:"auto" help:"Whether the sandbox runs (${enum}). auto: unless there is a Stripe key, or a host that is served has a public URL." group:"Payments"`

	X402Facilitators  []string      `env:"ACE_X402_FACILITATOR_URL" name:"x402-facilitator-url" placeholder:"URL,…" help:"Facilitators that settle payments for paid services, in order. Default: the sandbox's, if it runs." group:"Paid services"`
	X402TokenFile     string        `env:"ACE_X402_TOKEN_FILE" name:"x402-token-file" placeholder:"FILE" help:"File with the bearer token for the first facilitator." group:"Paid services"`
	X402CDPKeyID      string        `env:"ACE_X402_CDP_KEY_ID" name:"x402-cdp-key-id" placeholder:"ID" help:"ID of the API key for the facilitator of the Coinbase Developer Platform." group:"Paid services"`
	X402CDPSecretFile string        `env:"ACE_X402_CDP_SECRET_FILE" name:"x402-cdp-secret-file" placeholder:"FILE" help:"File with the secret of that key." group:"Paid services"`
	X402PayTo         string        `env:"ACE_X402_PAY_TO" name:"x402-pay-to" placeholder:"ADDRESS" help:"Address that receives the payments, with its checksum (EIP-55)." group:"Paid services"`
	X402Networks      []string      `env:"ACE_X402_NETWORKS" name:"x402-networks" default:"eip155:8453" placeholder:"NETWORK,…" help:"Networks that payments are accepted on, the preferred one first; in USDC if known (eip155:8453, 84532, 1, 137, 42161), otherwise as NETWORK=ASSET:NAME:VERSION:SYMBOL:DECIMALS." group:"Paid services"`
	X402RPC           []string      `env:"ACE_X402_RPC_URL" name:"x402-rpc-url" placeholder:"NETWORK=URL,…" help:"JSON-RPC URL of each network, to confirm payments on the chain." group:"Paid services"`
	X402Confirmations int64         `env:"ACE_X402_CONFIRMATIONS" name:"x402-confirmations" default:"12" placeholder:"N" help:"Blocks after which a payment counts as final." group:"Paid services"`
	ServicePrices     []string      `env:"ACE_SERVICE_PRICES" placeholder:"SERVICE=DOLLARS,…" help:"Prices of a run. Default: ai-search-audit=0.10, structured-data-pack=0.08, llms-txt-draft=0.05. Many agents do not pay more than 0.10 without confirmation." group:"Paid services"`
	ServiceRunWait    time.Duration `env:"ACE_SERVICE_RUN_WAIT" default:"45s" placeholder:"TIME" help:"How long a call waits for a run before it returns 202." group:"Paid services"`
	ServiceRunLimit   time.Duration `env:"ACE_SERVICE_RUN_LIMIT" default:"2m" placeholder:"TIME" help:"How long a run may take." group:"Paid services"`
	X402SettleBudget  time.Duration `env:"ACE_X402_SETTLE_BUDGET" name:"x402-settle-budget" default:"20s" placeholder:"TIME" help:"How long a settlement may take." group:"Paid services"`
	X402Margin        time.Duration `env:"ACE_X402_MARGIN" name:"x402-margin" default:"6s" placeholder:"TIME" help:"Time that a payment must be valid after run and settlement." group:"Paid services"`
	X402MaxTimeout    time.Duration `env:"ACE_X402_MAX_TIMEOUT" name:"x402-max-timeout" default:"5m" placeholder:"TIME" help:"Requested validity of a payment." group:"Paid services"`

	SiteName     string `env:"ACE_SITE_NAME" default:"ACE Store" help:"Name of the store." group:"Site"`
	Contact      string `env:"ACE_CONTACT" placeholder:"EMAIL" help:"E-mail address for buyers and agents." group:"Site"`
	SiteDir      string `env:"ACE_SITE_DIR" placeholder:"DIR" help:"Folder of Markdown files with the pages of the store; they replace default pages of the same path." group:"Site"`
	SiteUpstream string `env:"ACE_SITE_UPSTREAM" placeholder:"URL" help:"Existing website whose pages the store shows, from its sitemap. Excludes ACE_SITE_DIR." group:"Site"`
	Operator     string `env:"ACE_OPERATOR" placeholder:"NAME" help:"Legal name of the store's operator. Default: the name of the store." group:"Site"`
	Address      string `env:"ACE_OPERATOR_ADDRESS" placeholder:"TEXT" help:"Postal address of the store's operator, on one line." group:"Site"`

	ContentSignals  []string `env:"ACE_CONTENT_SIGNAL" default:"search=yes,ai-input=yes,ai-train=no" placeholder:"NAME=yes|no,…" help:"Allowed use of the pages, published in robots.txt and in a header: search, ai-input, ai-train. none: not published." group:"Site"`
	SecurityContact string   `env:"ACE_SECURITY_CONTACT" placeholder:"EMAIL|URL" help:"Contact for vulnerability reports, for security.txt. Default: the contact." group:"Site"`

	TermsURL   string `env:"ACE_TERMS_URL" placeholder:"URL" help:"Terms of service. Default: /terms of the store." group:"Site"`
	PrivacyURL string `env:"ACE_PRIVACY_URL" placeholder:"URL" help:"Privacy policy. Default: /privacy of the store." group:"Site"`
	RefundsURL string `env:"ACE_REFUNDS_URL" placeholder:"URL" help:"Refund policy. Default: /refunds of the store." group:"Site"`

	ContinueURL    string `env:"ACE_CONTINUE_URL" enum:"short,direct" default:"short" help:"Value of continue_url (${enum}): a short URL of the store that redirects to the payment page, or the URL of that page." group:"Agents"`
	UCPNegotiation string `env:"ACE_UCP_NEGOTIATION" enum:"off,lenient,strict" default:"lenient" help:"How UCP agent profiles are handled (${enum}): not read, read if possible, or required." group:"Agents"`

	BotSigning  string   `env:"ACE_BOT_SIGNING" enum:"on,off" default:"on" help:"Whether the store publishes its key directory and signs its requests by Web Bot Auth (${enum}). It signs only with a public https URL." group:"Agents"`
	BotKeyFiles []string `env:"ACE_BOT_KEY_FILE" placeholder:"FILE,…" help:"Ed25519 keys (PKCS #8, PEM) for that; the first signs, the others are published during a rotation. Default: a key is created at the first start and stored in the database." group:"Agents"`

	OrderWebhookURL    string   `env:"ACE_ORDER_WEBHOOK_URL" placeholder:"URL" help:"Where order events are posted, signed by the Standard Webhooks rules." group:"Operator"`
	OrderWebhookSecret []string `env:"ACE_ORDER_WEBHOOK_SECRET" placeholder:"SECRET,…" help:"Signing secret of order events: whsec_ and base64 of 24 to 64 bytes; two during a rotation." group:"Operator"`
	SMTPURL            string   `env:"ACE_SMTP_URL" name:"smtp-url" placeholder:"URL" help:"smtp://user:password@host:587 or smtps://…: sends receipts to buyers. Default: the processor sends them." group:"Operator"`
	MailFrom           string   `env:"ACE_MAIL_FROM" placeholder:"EMAIL" help:"Sender of receipts." group:"Operator"`

	PlatformName   string `env:"ACE_PLATFORM_NAME" default:"ACE Platform" help:"Display name of the platform." group:"Platform"`
	OIDCIssuer     string `env:"ACE_OIDC_ISSUER" name:"oidc-issuer" placeholder:"URL" help:"Issuer URL of the OpenID provider for sign-in, exactly as in its discovery document. Redirect URI: /sign-in/openid/callback of the platform. Default: none." group:"Platform"`
	OIDCClientID   string `env:"ACE_OIDC_CLIENT_ID" name:"oidc-client-id" placeholder:"ID" help:"Client id of this platform at the provider." group:"Platform"`
	OIDCSecretFile string `env:"ACE_OIDC_CLIENT_SECRET_FILE" name:"oidc-client-secret-file" placeholder:"FILE" help:"File with its client secret." group:"Platform"`

	OAuthClientsFile string `env:"ACE_OAUTH_CLIENTS_FILE" name:"oauth-clients-file" placeholder:"FILE" help:"JSON file with the OAuth clients of apps, for all accounts: {\"APP\": {\"client_id\": \"…\", \"client_secret\": \"…\", \"extra\": {}}}. Register PLATFORM_URL/oauth/callback/APP with each vendor. They are stored encrypted in the database." group:"Platform"`

	CatalogDir string `env:"ACE_CATALOG_DIR" name:"catalog-dir" placeholder:"DIR" help:"Folder of app definitions (APP.yaml) that are added to the shipped ones, or replace one with the same id. Check them with ace catalog lint. They are read at the start." group:"Platform"`

	EgressAllow []string `env:"ACE_EGRESS_ALLOW" placeholder:"CIDR,…" help:"Private networks that outbound calls may reach, over http and on any port." group:"Safety"`
	RateLimit   string   `env:"ACE_RATE_LIMIT" enum:"on,off" default:"on" help:"Limit of requests per client (${enum}); off is refused on a public address." group:"Safety"`
	RateBurst   int      `env:"ACE_RATE_BURST_API" default:"5" placeholder:"N" help:"Burst of requests per client, at one request per second." group:"Safety"`
	RedisURL    string   `env:"ACE_REDIS_URL" name:"redis-url" placeholder:"URL" help:"redis://user:password@host:6379/0 or rediss://…: replicas share request limits. While Redis is unavailable, each allows its part of the limit. Default: each process counts for itself." group:"Safety"`
	BotAuth     string   `env:"ACE_BOT_AUTH" enum:"off,observe,enforce" default:"observe" help:"What Web Bot Auth signatures do (${enum}): ignored, a separate limit for verified agents, or also refuse requests with invalid signatures." group:"Safety"`

	LogFormat string `env:"ACE_LOG_FORMAT" enum:"text,json" default:"text" help:"Format of log lines (${enum})." group:"Logs"`
	LogLevel  string `env:"ACE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Minimum level that is logged (${enum})." group:"Logs"`
}

// Check sets derived defaults and validates all settings. Its errors name the setting and the fix.
func (s *Settings) Check() error {
	return errors.Join(
		s.checkAddresses(), s.checkNetworks(), s.checkPayments(), s.checkSafety(), s.checkOperator(), s.checkSite(),
		s.checkAgents(), s.checkServices(), s.checkIdentity(), s.checkOAuthClients(), s.checkCatalog())
}

func (s *Settings) scheme() string {
	if s.DevTLS {
		return "https://"
	}
	return "http://"
}

func (s *Settings) checkAddresses() error {
	var errs []error
	if d := s.DrainDelay; d != nil && (*d < 0 || *d > longestDrain) {
		errs = append(errs, fmt.Errorf("ACE_DRAIN_DELAY is %s: write a time from 0s to %s", *d, longestDrain))
	}
	for name, addr := range map[string]string{
		"ACE_STORE_ADDR": s.StoreAddr, "ACE_PLATFORM_ADDR": s.PlatformAddr,
		"ACE_SANDBOX_ADDR": s.SandboxAddr, "ACE_ADMIN_ADDR": s.AdminAddr,
	} {
		if _, _, err := net.SplitHostPort(addr); err != nil && !(name == "ACE_ADMIN_ADDR" && addr == "") {
			errs = append(errs, fmt.Errorf("%s is %q: write HOST:PORT, for example 127.0.0.1:8080", name, addr))
		}
	}
	if s.AdminAddr != "" && !Local("http://"+s.AdminAddr) && s.AdminToken == "" {
		errs = append(
			errs,
			errors.New("ACE_ADMIN_ADDR can be reached from other machines: name a file with a token in "+
				"ACE_ADMIN_TOKEN_FILE, or listen on 127.0.0.1"),
		)
	}
	for name, v := range map[string]*string{
		"ACE_STORE_URL": &s.StoreURL, "ACE_PLATFORM_URL": &s.PlatformURL, "ACE_SANDBOX_URL": &s.SandboxURL,
		"ACE_STRIPE_URL": &s.StripeURL, "ACE_TERMS_URL": &s.TermsURL,
		"ACE_PRIVACY_URL": &s.PrivacyURL, "ACE_SITE_UPSTREAM": &s.SiteUpstream, "ACE_REFUNDS_URL": &s.RefundsURL,
		"ACE_ORDER_WEBHOOK_URL": &s.OrderWebhookURL,
	} {
		*v = strings.TrimRight(*v, "/")
		u, err := url.Parse(*v)
		if *v != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
			errs = append(errs,
				fmt.Errorf("%s cannot be used: write http:// or https:// and a host, without user and password", name))
		}
	}
	if s.StoreURL != "" && !Local(s.StoreURL) && !strings.HasPrefix(s.StoreURL, "https://") {
		errs = append(errs,
			errors.New(
				"ACE_STORE_URL is public and not https: agents refuse such a payment link; put the store behind TLS "+
					"and write https://"))
	}
	if s.PlatformURL != "" && !Local(s.PlatformURL) && !strings.HasPrefix(s.PlatformURL, "https://") {
		errs = append(errs,
			errors.New(
				"ACE_PLATFORM_URL is public and not https: API keys and sign-in cookies would travel in the open; "+
					"put the platform behind TLS and write https://"))
	}
	return errors.Join(errs...)
}

func (s *Settings) checkNetworks() error {
	var errs []error
	for name, list := range map[string][]string{
		"ACE_TRUSTED_PROXIES": s.TrustedProxies,
		"ACE_EGRESS_ALLOW":    s.EgressAllow,
	} {
		for _, text := range list {
			if _, err := netip.ParsePrefix(text); err != nil {
				errs = append(errs, fmt.Errorf("%s holds %q: write networks such as 10.0.0.0/8", name, text))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *Settings) checkPayments() error {
	switch {
	case s.StripeKey != "" && !strings.HasPrefix(s.StripeKey, "sk_") && !strings.HasPrefix(s.StripeKey, "rk_"):
		return errors.New("ACE_STRIPE_API_KEY is not a secret key: it starts with sk_ or rk_")
	case s.StripeKey != "" && len(s.StripeWebhookSecrets) == 0:
		return errors.New("ACE_STRIPE_WEBHOOK_SECRET is missing: create a webhook endpoint in Stripe for " +
			s.BaseURL() + "/webhooks/stripe, and set its signing secret")
	case !s.Serves("store"):
		return nil // nothing is sold here
	case s.StripeKey == "" && s.Sandbox == "off":
		return errors.New("nothing can be sold: set ACE_STRIPE_API_KEY, or ACE_SANDBOX=on")
	case s.StripeKey == "" && s.Sandbox == "auto" && !s.ServesLocally():
		return errors.New(
			"a host has a public URL and the store has no processor: set ACE_STRIPE_API_KEY, or ACE_SANDBOX=on to " +
				"sell for test money",
		)
	}
	return nil
}

func (s *Settings) checkSafety() error {
	if s.RateLimit == "off" && !(Local(s.BaseURL()) && Local(s.PlatformBaseURL())) {
		return errors.New(
			"ACE_RATE_LIMIT=off is for local tests only and refused with a public URL: remove it")
	}
	if s.RateBurst < 1 || s.RateBurst > 1000 {
		return errors.New("ACE_RATE_BURST_API must be a number from 1 to 1000")
	}
	u, err := url.Parse(s.RedisURL)
	if s.RedisURL != "" && (err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "") {
		return errors.New("ACE_REDIS_URL cannot be used: write redis://user:password@host:6379/0 or rediss://…")
	}
	return nil
}

func (s *Settings) checkOperator() error {
	var errs []error
	if (s.OrderWebhookURL == "") != (len(s.OrderWebhookSecret) == 0) {
		errs = append(errs,
			errors.New("ACE_ORDER_WEBHOOK_URL and ACE_ORDER_WEBHOOK_SECRET go together: set both or none"))
	}
	u, err := url.Parse(s.SMTPURL)
	if s.SMTPURL != "" && (err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "") {
		errs = append(errs,
			errors.New(
				"ACE_SMTP_URL cannot be used: write smtp://user:password@host:587 or smtps://user:password@host:465"))
	}
	if s.SMTPURL != "" && s.MailFrom == "" {
		errs = append(errs, errors.New("ACE_MAIL_FROM is missing: receipts need a sender"))
	}
	return errors.Join(errs...)
}

func (s *Settings) checkSite() error {
	if s.SiteDir != "" && s.SiteUpstream != "" {
		return errors.New(
			"ACE_SITE_DIR and ACE_SITE_UPSTREAM exclude each other: set one of them")
	}
	if u, err := url.Parse(s.SiteUpstream); err == nil && u.Path != "" {
		return errors.New(
			"ACE_SITE_UPSTREAM has a path: write only scheme and host of the website, such as https://www.example.com")
	}
	if s.SiteDir == "" {
		return nil
	}
	if info, err := os.Stat(s.SiteDir); err != nil || !info.IsDir() {
		return fmt.Errorf(
			"ACE_SITE_DIR names %q, which is not a readable folder: create it, or remove the setting", s.SiteDir)
	}
	return nil
}

func (s *Settings) checkCatalog() error {
	if s.CatalogDir == "" {
		return nil
	}
	if info, err := os.Stat(s.CatalogDir); err != nil || !info.IsDir() {
		return fmt.Errorf(
			"ACE_CATALOG_DIR names %q, which is not a readable folder: create it, or remove the setting",
			s.CatalogDir)
	}
	return nil
}

// longestDrain leaves time for requests and jobs within the 50 s in which a
// process ends.
const longestDrain = 15 * time.Second

// Drain returns how long the hosts go on listening after the signal to stop.
func (s *Settings) Drain() time.Duration {
	if s.DrainDelay != nil {
		return *s.DrainDelay
	}
	for host, addr := range map[string]string{"store": s.StoreAddr, "platform": s.PlatformAddr} {
		if s.Serves(host) && !Local("http://"+addr) {
			return 5 * time.Second
		}
	}
	return 0
}

// BaseURL returns the public URL of the store.
func (s *Settings) BaseURL() string {
	if s.StoreURL != "" {
		return s.StoreURL
	}
	return s.scheme() + reachable(s.StoreAddr)
}

// PlatformBaseURL returns the public URL of the platform.
func (s *Settings) PlatformBaseURL() string {
	if s.PlatformURL != "" {
		return s.PlatformURL
	}
	return s.scheme() + reachable(s.PlatformAddr)
}

// Serves reports whether this process serves a host, "store" or "platform".
func (s *Settings) Serves(host string) bool { return slices.Contains(s.Hosts, host) }

// SandboxBaseURL returns the URL of the sandbox for browsers.
func (s *Settings) SandboxBaseURL() string {
	if s.SandboxURL != "" {
		return s.SandboxURL
	}
	return s.scheme() + reachable(s.SandboxAddr)
}

// SandboxOn reports whether the sandbox runs.
func (s *Settings) SandboxOn() bool {
	return s.Sandbox == "on" || s.Sandbox == "auto" && s.StripeKey == "" && s.ServesLocally()
}

// Sells reports whether this process has a processor of payments, real or of the
// sandbox. One that serves the platform alone needs none.
func (s *Settings) Sells() bool { return s.StripeKey != "" || s.SandboxOn() }

// ServesLocally reports whether every host that this process serves is reachable
// only from this machine.
func (s *Settings) ServesLocally() bool {
	return (!s.Serves("store") || Local(s.BaseURL())) && (!s.Serves("platform") || Local(s.PlatformBaseURL()))
}

// Database returns the URL of the database for sqldb.Open.
func (s *Settings) Database() string {
	if s.DatabaseURL != "" {
		return s.DatabaseURL
	}
	return "sqlite:" + filepath.Join(s.DataDir, "ace.db")
}

// MasterKeyFile returns the path of the master key.
func (s *Settings) MasterKeyFile() string {
	if s.MasterKey != "" {
		return s.MasterKey
	}
	return filepath.Join(s.DataDir, "master.key")
}

// Policies returns the URLs of the store's policies.
func (s *Settings) Policies() (terms, privacy, refunds string) {
	or := func(set, path string) string {
		if set != "" {
			return set
		}
		return s.BaseURL() + path
	}
	return or(s.TermsURL, "/terms"), or(s.PrivacyURL, "/privacy"), or(s.RefundsURL, "/refunds")
}

// Prefixes parses networks that Check has accepted.
func Prefixes(list []string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			prefixes = append(prefixes, p.Masked())
		}
	}
	return prefixes
}

// Local reports whether a URL is reachable only from this machine.
func Local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// reachable converts a listening address to one that can be called.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
