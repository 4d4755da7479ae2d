package servicehttp_test

import (
	"net/http"
	"testing"
)

// FuzzCall sends what no client would. Whatever it is: no run, no settlement,
// no crash, and a response that says what to do.
func FuzzCall(f *testing.F) {
	for _, body := range []string{
		"", "{}", site, `{"url":7}`, `{"url":"x","payment_signature":{}}`,
		`{"payment_signature":"e30="}`, "\x00", `[1]`, `{"a":1,"a":2}`,
	} {
		for _, header := range []string{"", "e30=", "{}", `{"x402Version":2}`, "0x00", "!!!"} {
			f.Add(body, header, "wait=1", "key")
		}
	}
	f.Add(site, "", "wait=-1, respond-async;x=\"", "")
	f.Fuzz(func(t *testing.T, body, header, prefer, key string) {
		w := setup(t)
		answer := w.do(http.MethodPost, auditPath, body, "PAYMENT-SIGNATURE", header, "Prefer", prefer,
			"Idempotency-Key", key)
		if answer.Code != http.StatusPaymentRequired && answer.Code != http.StatusBadRequest &&
			answer.Code != http.StatusUnsupportedMediaType && answer.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("answer = %d %s", answer.Code, answer.Body)
		}
		if _, settles := w.ledger.Calls(); settles != 0 || w.runner.Runs() != 0 {
			t.Error("something was run or settled")
		}
	})
}
