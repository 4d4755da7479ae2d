package egress

import (
	"context"
	"testing"
)

// BenchmarkDialHook is the price of the guard for each new connection.
func BenchmarkDialHook(b *testing.B) {
	g := New(nil)
	ctx := context.WithValue(context.Background(), verdictKey{}, verdict{})
	for name, address := range map[string]string{
		"public": "93.184.215.14:443", "public6": "[2606:2800:21f::1]:443",
		"private": "10.0.0.1:443",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := g.control(ctx, "tcp4", address, nil); (err == nil) != (name != "private") {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck is the price of the guard for each hop.
func BenchmarkCheck(b *testing.B) {
	g := New(nil)
	p := Webhook()
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Check(p, "https://hooks.example.com:8443/a/b?c=d"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDialWithoutVerdictIsRefused(t *testing.T) {
	t.Parallel()
	if err := New(nil).control(t.Context(), "tcp4", "93.184.215.14:443", nil); Reason(err) != ReasonAddress {
		t.Errorf("control without a verdict = %v, want a refusal", err)
	}
}
