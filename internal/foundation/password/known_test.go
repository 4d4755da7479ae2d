package password_test

import (
	"testing"

	"ace/internal/foundation/password"
)

func TestKnown(t *testing.T) {
	t.Parallel()
	h := password.New()
	words := []string{"demo-company", "ann.smith@acme.example"}
	for text, want := range map[string]bool{
		"password1234": true, "Password2024!": true, "P4ssw0rd!2024": true, "passwordpassword": true,
		"Passwordpassword1": true,
		"aaaaaaaaaaaa":      true, "abcabcabcabc": true, "abcdefghijkl": true, "qwertyuiopas": true,
		"123456789012": true,
		"lkjhgfdsapoi": true, "1qaz2wsx3edc": true, "letmein12345": true, "administrator": true,
		"Administrator1!": true,
		"Demo-Company1":   true, "ann.smith@acme.example": true, "Ann.Smith1234": true, "20240101 2024": true,
		"!!!!!!!!!!!!": true, "iloveyou1234": true, "welcome-2024": true,
		"seven copper kettles sing": false, "correct horse battery staple": false, "Tr0ub4dor&3-zebra": false,
		"xk7-Lqp2-9vRt": false, "4839201748392817": false, "kjh23f9wefkj": false, "Grüße aus Kyoto 7": false,
	} {
		if got, err := h.Known(text, words...); err != nil || got != want {
			t.Errorf("Known(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}
