// Package config is every setting of ACE in one struct.
//
//	flag > environment (ACE_…) > settings file > default
//
// The struct's tags are the flags, the variables, the help and the page
// docs/configuration.md, which a test compares. Check names the setting and
// the mend.
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

// Settings are the settings of a server. The defaults run a whole development
// world without any configuration.
type Settings struct {
	StoreAddr    string `env:"ACE_STORE_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address that the store listens on." group:"Addresses"`
	PlatformAddr string `env:"ACE_PLATFORM_ADDR" default:"127.0.0.1:8081" placeholder:"HOST:PORT" help:"Address that the platform listens on." group:"Addresses"`
	SandboxAddr  string `env:"ACE_SANDBOX_ADDR" default:"127.0.0.1:8082" placeholder:"HOST:PORT" help:"Address that the sandbox listens on." group:"Addresses"`
	AdminAddr    string `env:"ACE_ADMIN_ADDR" default:"127.0.0.1:9464" placeholder:"HOST:PORT" help:"Address of health checks and profiles; keep it private. Empty: none." group:"Addresses"`
	StoreURL     string `env:"ACE_STORE_URL" placeholder:"URL" help:"Public address of the store, without a slash at the end. Default: http:// and the listening address." group:"Addresses"`
	PlatformURL  string `env:"ACE_PLATFORM_URL" placeholder:"URL" help:"Public address of the platform, without a slash at the end. Default: http:// and the listening address." group:"Addresses"`
	SandboxURL   string `env:"ACE_SANDBOX_URL" placeholder:"URL" help:"Address of the sandbox as browsers see it. Default: http:// and the listening address." group:"Addresses"`

	Hosts          []string `env:"ACE_HOSTS" enum:"store,platform" default:"store,platform" help:"Hosts that this process serves (${enum})." group:"Addresses"`
	TrustedProxies []string `env:"ACE_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Networks of proxies whose X-Forwarded-For or Forwarded header is believed." group:"Addresses"`
	DevTLS         bool     `env:"ACE_DEV_TLS" name:"dev-tls" help:"Serve https with a certificate made at the first start, for development." group:"Addresses"`

	DataDir     string `env:"ACE_DATA_DIR" default:"./data" placeholder:"DIR" help:"Folder of the embedded database, keys and the control socket." group:"Storage"`
	DatabaseURL string `env:"ACE_DATABASE_URL" placeholder:"URL" help:"postgres://… to run several replicas. Default: SQLite in the data folder." group:"Storage"`
	MasterKey   string `env:"ACE_MASTER_KEY_FILE" placeholder:"FILE" help:"File with the 32 bytes that the keys of secrets are wrapped with, the same on every replica. Default: master.key in the data folder, made at the first start." group:"Storage"`

	KEKURL          string `env:"ACE_KEK_URL" name:"kek-url" placeholder:"URL" help:"Key that wraps the keys of secrets, the same on every replica: file:///PATH (32 bytes), env://NAME (base64 of 32 bytes), or hcvault://HOST:8200/transit/keys/NAME for Transit of HashiCorp Vault or OpenBao. Default: the master key file." group:"Storage"`
	KEKTokenFile    string `env:"ACE_KEK_TOKEN_FILE" name:"kek-token-file" placeholder:"FILE" help:"File with the token for that service; read for each call, so that it may be renewed." group:"Storage"`
	KEKOldURL       string `env:"ACE_KEK_OLD_URL" name:"kek-old-url" placeholder:"URL" help:"Key that wrapped them before, while ACE_KEK_URL changes: see ace vault rewrap." group:"Storage"`
	KEKOldTokenFile string `env:"ACE_KEK_OLD_TOKEN_FILE" name:"kek-old-token-file" placeholder:"FILE" help:"File with the token for the service of the key before." group:"Storage"`

	StripeKey            string   `env:"ACE_STRIPE_API_KEY" placeholder:"KEY" help:"Secret key of the Stripe account that sells. With it the sandbox is off." group:"Payments"`
	StripeWebhookSecrets []string `env:"ACE_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET,…" help:"Signing secret of the Stripe webhook endpoint that posts to /webhooks/stripe; two during a rotation." group:"Payments"`
	StripeURL            string   `env:"ACE_STRIPE_URL" placeholder:"URL" help:"Address of the payment processor's API. Default: Stripe's, or the sandbox's." group:"Payments"`
	StripeOffers         string   `env:"ACE_STRIPE_OFFERS" enum:"marked,all" default:"marked" help:"Which active prices are for sale: those with the metadata agent_offer=true (${enum})." group:"Payments"`
	AutomaticTax         bool     `env:"ACE_STRIPE_AUTOMATIC_TAX" help:"Let the processor compute tax on the payment page." group:"Payments"`
	Sandbox              string   `env:"ACE_SANDBOX" enum:"auto,on,off" default:"auto" help:"Whether the sandbox runs (${enum}). auto: unless there is a Stripe key or a public address." group:"Payments"`

	X402Facilitators  []string      `env:"ACE_X402_FACILITATOR_URL" name:"x402-facilitator-url" placeholder:"URL,…" help:"Facilitators that settle payments for paid services, the first one first. Default: the sandbox's, while it runs." group:"Paid services"`
	X402TokenFile     string        `env:"ACE_X402_TOKEN_FILE" name:"x402-token-file" placeholder:"FILE" help:"File with a token that the first facilitator wants as Authorization: Bearer." group:"Paid services"`
	X402CDPKeyID      string        `env:"ACE_X402_CDP_KEY_ID" name:"x402-cdp-key-id" placeholder:"ID" help:"Id of the key for the facilitator of the Coinbase Developer Platform." group:"Paid services"`
	X402CDPSecretFile string        `env:"ACE_X402_CDP_SECRET_FILE" name:"x402-cdp-secret-file" placeholder:"FILE" help:"File with the secret of that key." group:"Paid services"`
	X402PayTo         string        `env:"ACE_X402_PAY_TO" name:"x402-pay-to" placeholder:"ADDRESS" help:"Address that receives the payments, with its checksum (EIP-55)." group:"Paid services"`
	X402Networks      []string      `env:"ACE_X402_NETWORKS" name:"x402-networks" default:"eip155:8453" placeholder:"NETWORK,…" help:"Networks that payments are taken on, the preferred one first; in USDC where it is known (eip155:8453, 84532, 1, 137, 42161), otherwise as NETWORK=ASSET:NAME:VERSION:SYMBOL:DECIMALS." group:"Paid services"`
	X402RPC           []string      `env:"ACE_X402_RPC_URL" name:"x402-rpc-url" placeholder:"NETWORK=URL,…" help:"JSON-RPC address of each network: payments are then proven by the chain, also when a facilitator loses its answer." group:"Paid services"`
	X402Confirmations int64         `env:"ACE_X402_CONFIRMATIONS" name:"x402-confirmations" default:"12" placeholder:"N" help:"Blocks after which a payment counts as final." group:"Paid services"`
	ServicePrices     []string      `env:"ACE_SERVICE_PRICES" placeholder:"SERVICE=DOLLARS,…" help:"Prices of a run. Default: ai-search-audit=0.10, structured-data-pack=0.08, llms-txt-draft=0.05. Many agents refuse to pay more than 0.10 by themselves." group:"Paid services"`
	ServiceRunWait    time.Duration `env:"ACE_SERVICE_RUN_WAIT" default:"45s" placeholder:"TIME" help:"How long a caller waits for a run before it is told to come back." group:"Paid services"`
	ServiceRunLimit   time.Duration `env:"ACE_SERVICE_RUN_LIMIT" default:"2m" placeholder:"TIME" help:"How long a run may take." group:"Paid services"`
	X402SettleBudget  time.Duration `env:"ACE_X402_SETTLE_BUDGET" name:"x402-settle-budget" default:"20s" placeholder:"TIME" help:"How long a settlement may take." group:"Paid services"`
	X402Margin        time.Duration `env:"ACE_X402_MARGIN" name:"x402-margin" default:"6s" placeholder:"TIME" help:"Time that a payment must be good for beyond run and settlement." group:"Paid services"`
	X402MaxTimeout    time.Duration `env:"ACE_X402_MAX_TIMEOUT" name:"x402-max-timeout" default:"5m" placeholder:"TIME" help:"How long payers are asked to make a payment good for." group:"Paid services"`

	SiteName     string `env:"ACE_SITE_NAME" default:"ACE Store" help:"Name of the store." group:"Site"`
	Contact      string `env:"ACE_CONTACT" placeholder:"EMAIL" help:"Address that buyers and agents may write to." group:"Site"`
	SiteDir      string `env:"ACE_SITE_DIR" placeholder:"DIR" help:"Folder of Markdown files that are the pages of the store; they come before the default pages of the same path." group:"Site"`
	SiteUpstream string `env:"ACE_SITE_UPSTREAM" placeholder:"URL" help:"Existing website whose pages the store shows, found by its sitemap. Not together with ACE_SITE_DIR." group:"Site"`
	Operator     string `env:"ACE_OPERATOR" placeholder:"NAME" help:"Legal name of whoever runs the store. Default: the name of the store." group:"Site"`
	Address      string `env:"ACE_OPERATOR_ADDRESS" placeholder:"TEXT" help:"Postal address of whoever runs the store, on one line." group:"Site"`

	ContentSignals  []string `env:"ACE_CONTENT_SIGNAL" default:"search=yes,ai-input=yes,ai-train=no" placeholder:"NAME=yes|no,…" help:"What may be done with the pages, told in robots.txt and beside each page: search, ai-input, ai-train. none: nothing is said." group:"Site"`
	SecurityContact string   `env:"ACE_SECURITY_CONTACT" placeholder:"EMAIL|URL" help:"Who hears about weaknesses of the store, for security.txt. Default: the contact." group:"Site"`

	TermsURL   string `env:"ACE_TERMS_URL" placeholder:"URL" help:"Terms of service. Default: /terms of the store." group:"Site"`
	PrivacyURL string `env:"ACE_PRIVACY_URL" placeholder:"URL" help:"Privacy policy. Default: /privacy of the store." group:"Site"`
	RefundsURL string `env:"ACE_REFUNDS_URL" placeholder:"URL" help:"Refund policy. Default: /refunds of the store." group:"Site"`

	ContinueURL    string `env:"ACE_CONTINUE_URL" enum:"short,direct" default:"short" help:"What continue_url holds (${enum}): a short address of the store that leads to the payment page, or that page itself." group:"Agents"`
	UCPNegotiation string `env:"ACE_UCP_NEGOTIATION" enum:"off,lenient,strict" default:"lenient" help:"How UCP agent profiles are treated (${enum}): not read, read if possible, or required." group:"Agents"`

	BotSigning  string   `env:"ACE_BOT_SIGNING" enum:"on,off" default:"on" help:"Whether the store publishes its bot key directory and signs what it fetches by Web Bot Auth (${enum}). It signs only with a public https address." group:"Agents"`
	BotKeyFiles []string `env:"ACE_BOT_KEY_FILE" placeholder:"FILE,…" help:"Ed25519 keys (PKCS #8, PEM) for that; the first signs, the others are published during an exchange. Default: one is made at the first start and kept in the database." group:"Agents"`

	OrderWebhookURL    string   `env:"ACE_ORDER_WEBHOOK_URL" placeholder:"URL" help:"Where order events are posted, signed by the Standard Webhooks rules." group:"Operator"`
	OrderWebhookSecret []string `env:"ACE_ORDER_WEBHOOK_SECRET" placeholder:"SECRET,…" help:"Signing secret of order events: whsec_ and base64 of 24 to 64 bytes; two while one is replaced." group:"Operator"`
	SMTPURL            string   `env:"ACE_SMTP_URL" name:"smtp-url" placeholder:"URL" help:"smtp://user:password@host:587 or smtps://…: sends receipts to buyers. Default: the processor sends them." group:"Operator"`
	MailFrom           string   `env:"ACE_MAIL_FROM" placeholder:"EMAIL" help:"Sender of receipts." group:"Operator"`

	PlatformName   string `env:"ACE_PLATFORM_NAME" default:"ACE Platform" help:"Name of the platform, as people see it." group:"Platform"`
	OIDCIssuer     string `env:"ACE_OIDC_ISSUER" name:"oidc-issuer" placeholder:"URL" help:"OpenID provider that people sign in by, exactly as it names itself; it sends them back to /sign-in/openid/callback of the platform. Default: none." group:"Platform"`
	OIDCClientID   string `env:"ACE_OIDC_CLIENT_ID" name:"oidc-client-id" placeholder:"ID" help:"Client id that the provider gave for this platform." group:"Platform"`
	OIDCSecretFile string `env:"ACE_OIDC_CLIENT_SECRET_FILE" name:"oidc-client-secret-file" placeholder:"FILE" help:"File with the client secret that goes with it." group:"Platform"`

	OAuthClientsFile string `env:"ACE_OAUTH_CLIENTS_FILE" name:"oauth-clients-file" placeholder:"FILE" help:"JSON file with the OAuth clients that apps are connected with, for all accounts: {\"APP\": {\"client_id\": \"…\", \"client_secret\": \"…\", \"extra\": {}}}. Register PLATFORM_URL/oauth/callback/APP with each vendor. They are kept, sealed, in the database." group:"Platform"`

	CatalogDir string `env:"ACE_CATALOG_DIR" name:"catalog-dir" placeholder:"DIR" help:"Folder of definitions of apps (APP.yaml) that join those that are shipped, or come in the place of one with the same id. Check them with ace catalog lint. They are read at the start." group:"Platform"`

	EgressAllow []string `env:"ACE_EGRESS_ALLOW" placeholder:"CIDR,…" help:"Networks that outbound calls may reach although they are private, over http and on any port." group:"Safety"`
	RateLimit   string   `env:"ACE_RATE_LIMIT" enum:"on,off" default:"on" help:"Limit of requests per client (${enum}); off is refused on a public address." group:"Safety"`
	RateBurst   int      `env:"ACE_RATE_BURST_API" default:"5" placeholder:"N" help:"Requests that a client may make at once; one a second comes back." group:"Safety"`
	RedisURL    string   `env:"ACE_REDIS_URL" name:"redis-url" placeholder:"URL" help:"redis://user:password@host:6379/0 or rediss://…: replicas count requests together. While Redis is away, each allows its part of the limit. Default: each process counts for itself." group:"Safety"`
	BotAuth     string   `env:"ACE_BOT_AUTH" enum:"off,observe,enforce" default:"observe" help:"What Web Bot Auth signatures do (${enum}): nothing, give a verified agent a limit of its own, or also refuse requests that are signed wrongly." group:"Safety"`

	LogFormat string `env:"ACE_LOG_FORMAT" enum:"text,json" default:"text" help:"Form of log lines (${enum})." group:"Logs"`
	LogLevel  string `env:"ACE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that is logged (${enum})." group:"Logs"`
}

// Check completes what follows from other settings and refuses what cannot
// work, naming each setting and its mend.
func (s *Settings) Check() error {
	return errors.Join(
		s.checkAddresses(), s.checkNetworks(), s.checkPayments(), s.checkSafety(), s.checkOperator(), s.checkSite(), s.checkAgents(), s.checkServices(), s.checkIdentity(), s.checkOAuthClients(), s.checkCatalog())
}

func (s *Settings) scheme() string {
	if s.DevTLS {
		return "https://"
	}
	return "http://"
}

func (s *Settings) checkAddresses() error {
	var errs []error
	for name, addr := range map[string]string{"ACE_STORE_ADDR": s.StoreAddr, "ACE_PLATFORM_ADDR": s.PlatformAddr, "ACE_SANDBOX_ADDR": s.SandboxAddr, "ACE_ADMIN_ADDR": s.AdminAddr} {
		if _, _, err := net.SplitHostPort(addr); err != nil && !(name == "ACE_ADMIN_ADDR" && addr == "") {
			errs = append(errs, fmt.Errorf("%s is %q: write HOST:PORT, for example 127.0.0.1:8080", name, addr))
		}
	}
	for name, v := range map[string]*string{
		"ACE_STORE_URL": &s.StoreURL, "ACE_PLATFORM_URL": &s.PlatformURL, "ACE_SANDBOX_URL": &s.SandboxURL, "ACE_STRIPE_URL": &s.StripeURL, "ACE_TERMS_URL": &s.TermsURL,
		"ACE_PRIVACY_URL": &s.PrivacyURL, "ACE_SITE_UPSTREAM": &s.SiteUpstream, "ACE_REFUNDS_URL": &s.RefundsURL, "ACE_ORDER_WEBHOOK_URL": &s.OrderWebhookURL,
	} {
		*v = strings.TrimRight(*v, "/")
		u, err := url.Parse(*v)
		if *v != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
			errs = append(errs, fmt.Errorf("%s cannot be used: write http:// or https:// and a host, without user and password", name))
		}
	}
	if s.StoreURL != "" && !Local(s.StoreURL) && !strings.HasPrefix(s.StoreURL, "https://") {
		errs = append(errs, errors.New("ACE_STORE_URL is public and not https: agents refuse such a payment link; put the store behind TLS and write https://"))
	}
	if s.PlatformURL != "" && !Local(s.PlatformURL) && !strings.HasPrefix(s.PlatformURL, "https://") {
		errs = append(errs, errors.New("ACE_PLATFORM_URL is public and not https: API keys and sign-in cookies would travel in the open; put the platform behind TLS and write https://"))
	}
	return errors.Join(errs...)
}

func (s *Settings) checkNetworks() error {
	var errs []error
	for name, list := range map[string][]string{"ACE_TRUSTED_PROXIES": s.TrustedProxies, "ACE_EGRESS_ALLOW": s.EgressAllow} {
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
		return errors.New("ACE_STRIPE_API_KEY is no secret key: it starts with sk_ or rk_")
	case s.StripeKey != "" && len(s.StripeWebhookSecrets) == 0:
		return errors.New("ACE_STRIPE_WEBHOOK_SECRET is missing: make a webhook endpoint in Stripe that posts to " + s.BaseURL() + "/webhooks/stripe, and set its signing secret")
	case s.StripeKey == "" && s.Sandbox == "off":
		return errors.New("nothing can be sold: set ACE_STRIPE_API_KEY, or ACE_SANDBOX=on")
	case s.StripeKey == "" && s.Sandbox == "auto" && !Local(s.BaseURL()):
		return errors.New("the store has a public address and no processor: set ACE_STRIPE_API_KEY, or ACE_SANDBOX=on to sell for pretended money")
	}
	return nil
}

func (s *Settings) checkSafety() error {
	if s.RateLimit == "off" && !(Local(s.BaseURL()) && Local(s.PlatformBaseURL())) {
		return errors.New("ACE_RATE_LIMIT=off is for tests on this machine and refused on a public address: leave it out")
	}
	if s.RateBurst < 1 || s.RateBurst > 1000 {
		return errors.New("ACE_RATE_BURST_API is a number from 1 to 1000")
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
		errs = append(errs, errors.New("ACE_ORDER_WEBHOOK_URL and ACE_ORDER_WEBHOOK_SECRET go together: set both or none"))
	}
	u, err := url.Parse(s.SMTPURL)
	if s.SMTPURL != "" && (err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "") {
		errs = append(errs, errors.New("ACE_SMTP_URL cannot be used: write smtp://user:password@host:587 or smtps://user:password@host:465"))
	}
	if s.SMTPURL != "" && s.MailFrom == "" {
		errs = append(errs, errors.New("ACE_MAIL_FROM is missing: receipts need a sender"))
	}
	return errors.Join(errs...)
}

func (s *Settings) checkSite() error {
	if s.SiteDir != "" && s.SiteUpstream != "" {
		return errors.New("ACE_SITE_DIR and ACE_SITE_UPSTREAM exclude each other: pages come from a folder or from a website")
	}
	if u, err := url.Parse(s.SiteUpstream); err == nil && u.Path != "" {
		return errors.New("ACE_SITE_UPSTREAM has a path: write only scheme and host of the website, such as https://www.example.com")
	}
	if s.SiteDir == "" {
		return nil
	}
	if info, err := os.Stat(s.SiteDir); err != nil || !info.IsDir() {
		return fmt.Errorf("ACE_SITE_DIR names %q, which is no folder that can be read: make it, or leave the setting out", s.SiteDir)
	}
	return nil
}

func (s *Settings) checkCatalog() error {
	if s.CatalogDir == "" {
		return nil
	}
	if info, err := os.Stat(s.CatalogDir); err != nil || !info.IsDir() {
		return fmt.Errorf("ACE_CATALOG_DIR names %q, which is no folder that can be read: make it, or leave the setting out", s.CatalogDir)
	}
	return nil
}

// BaseURL is the public address of the store.
func (s *Settings) BaseURL() string {
	if s.StoreURL != "" {
		return s.StoreURL
	}
	return s.scheme() + reachable(s.StoreAddr)
}

// PlatformBaseURL is the public address of the platform.
func (s *Settings) PlatformBaseURL() string {
	if s.PlatformURL != "" {
		return s.PlatformURL
	}
	return s.scheme() + reachable(s.PlatformAddr)
}

// Serves reports whether this process serves a host, "store" or "platform".
func (s *Settings) Serves(host string) bool { return slices.Contains(s.Hosts, host) }

// SandboxBaseURL is the address of the sandbox as browsers see it.
func (s *Settings) SandboxBaseURL() string {
	if s.SandboxURL != "" {
		return s.SandboxURL
	}
	return s.scheme() + reachable(s.SandboxAddr)
}

// SandboxOn reports whether the sandbox runs.
func (s *Settings) SandboxOn() bool {
	return s.Sandbox == "on" || s.Sandbox == "auto" && s.StripeKey == "" && Local(s.BaseURL())
}

// Database is the address of the database, for sqldb.Open.
func (s *Settings) Database() string {
	if s.DatabaseURL != "" {
		return s.DatabaseURL
	}
	return "sqlite:" + filepath.Join(s.DataDir, "ace.db")
}

// MasterKeyFile is where the master key is.
func (s *Settings) MasterKeyFile() string {
	if s.MasterKey != "" {
		return s.MasterKey
	}
	return filepath.Join(s.DataDir, "master.key")
}

// Policies are the addresses of the store's policies.
func (s *Settings) Policies() (terms, privacy, refunds string) {
	or := func(set, path string) string {
		if set != "" {
			return set
		}
		return s.BaseURL() + path
	}
	return or(s.TermsURL, "/terms"), or(s.PrivacyURL, "/privacy"), or(s.RefundsURL, "/refunds")
}

// Prefixes answers networks that Check has accepted.
func Prefixes(list []string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			prefixes = append(prefixes, p.Masked())
		}
	}
	return prefixes
}

// Local reports whether an address cannot be reached from other machines.
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

// reachable turns a listening address into one that can be called.
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
