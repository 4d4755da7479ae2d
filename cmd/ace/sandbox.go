package main

import (
	"fmt"

	"ace/internal/server"
)

type sandboxCmd struct {
	Addr          string `env:"ACE_SANDBOX_ADDR" default:"127.0.0.1:8082" placeholder:"HOST:PORT" help:"Address to listen on."`
	URL           string `name:"url" env:"ACE_SANDBOX_URL" placeholder:"URL" help:"Address as browsers see it. Default: http:// and the listening address."`
	DataDir       string `env:"ACE_DATA_DIR" default:"./data" placeholder:"DIR" help:"Folder of the sandbox's database."`
	Key           string `default:"sk_test_sandbox" help:"Secret key to accept; give it to the store as ACE_STRIPE_API_KEY."`
	WebhookURL    string `default:"http://127.0.0.1:8080/webhooks/stripe" placeholder:"URL" help:"Where events are posted."`
	WebhookSecret string `default:"whsec_sandbox" help:"Signing secret of events; give it to the store as ACE_STRIPE_WEBHOOK_SECRET."`
	AllowPublic   bool   `help:"Start although other machines can reach the address."`
	LogFormat     string `env:"ACE_LOG_FORMAT" enum:"text,json" default:"text" help:"Form of log lines (${enum})."`
	LogLevel      string `env:"ACE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that is logged (${enum})."`
}

// Run runs the sandbox alone, for a store in another process.
func (c *sandboxCmd) Run(w *world) error {
	s, err := server.NewSandbox(w.ctx, server.SandboxConfig{
		Addr: c.Addr, URL: c.URL, DataDir: c.DataDir, Key: c.Key, WebhookURL: c.WebhookURL,
		WebhookSecret: c.WebhookSecret, AllowPublic: c.AllowPublic,
	}, newLogger(w.stderr, c.LogFormat, c.LogLevel))
	if err != nil {
		return err
	}
	if err := s.Listen(w.ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w.stdout,
		"The sandbox is running; no real money moves.\n\n  address  %s\n\nRun a store on it:\n  "+
			"ACE_STRIPE_API_KEY=%s ACE_STRIPE_WEBHOOK_SECRET=%s ACE_STRIPE_URL=%s/stripe ace serve\n\n",
		s.URL(), c.Key, c.WebhookSecret, s.URL())
	return s.Run(w.ctx)
}
