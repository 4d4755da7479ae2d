package evm_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
)

// fixture reads one of the recorded exchanges.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/x402/fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func recorded(t testing.TB, name string) *x402.PaymentPayload {
	t.Helper()
	p, err := x402.ReadPayload(fixture(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// terms returns a quote of the development token.
func terms() x402.PaymentRequirements {
	return x402.PaymentRequirements{
		Scheme: "exact", Network: "eip155:31337", Amount: "90000", Asset: "0xDe00000000000000000000000000000000000402",
		PayTo: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", MaxTimeoutSeconds: 300,
		Extra: map[string]any{"name": "Dev USD", "version": "1"},
	}
}

func newKey(t testing.TB) evm.Key {
	t.Helper()
	k, err := evm.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeccak(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"},
		{"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 " +
			"validBefore,bytes32 nonce)", "0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267"},
		{
			"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
			"0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f",
		},
	}
	for _, tt := range tests {
		if got := evm.Keccak([]byte(tt.in)).String(); got != tt.want {
			t.Errorf("Keccak(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	// Addresses with their checksums from EIP-55.
	for _, text := range []string{
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
		"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
		"0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77",
	} {
		for _, spelled := range []string{text, strings.ToLower(text), "0x" + strings.ToUpper(text[2:])} {
			if a, err := evm.ParseAddress(spelled); err != nil || a.String() != text {
				t.Errorf("ParseAddress(%s) = %s, %v, want %s", spelled, a, err, text)
			}
		}
	}
	for _, text := range []string{
		"", "0x", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedf", "0XdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
		"0xzzF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
	} {
		if a, err := evm.ParseAddress(text); err == nil {
			t.Errorf("ParseAddress(%q) = %s, want an error", text, a)
		}
	}
	if !(evm.Address{}).IsZero() {
		t.Error("the zero address is not zero")
	}
}

func TestChainID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want uint64
	}{
		{"eip155:8453", 8453},
		{"eip155:84532", 84532},
		{"eip155:1", 1},
		{"eip155:", 0},
		{"eip155:0", 0},
		{"eip155:01", 0},
		{"eip155:-1", 0},
		{"eip155:1x", 0},
		{"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", 0},
		{"base", 0},
		{"", 0},
	}
	for _, tt := range tests {
		if got, err := evm.ChainID(tt.in); got != tt.want && err == nil || (err == nil) != (tt.want != 0) {
			t.Errorf("ChainID(%q) = %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestKeyOne(t *testing.T) {
	t.Parallel()
	k, err := evm.ParseKey(strings.Repeat("0", 63) + "1")
	if err != nil || k.Address().String() != "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf" {
		t.Errorf("address of the key 1 = %s, %v, want the known one", k.Address(), err)
	}
	again, err := evm.ParseKey(k.Secret())
	if err != nil || again.Address() != k.Address() {
		t.Errorf("the key that was written reads as %v, %v", again, err)
	}
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%+v %#v %x", k, k, k)} {
		if strings.Contains(text, k.Secret()[2:]) {
			t.Errorf("a printed key shows itself: %s", text)
		}
	}
	order := "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	for _, text := range []string{
		"", "0x", "1", strings.Repeat("0", 64), order, strings.Repeat("f", 64),
		strings.Repeat("zz", 32), strings.Repeat("1", 66),
	} {
		if _, err := evm.ParseKey(text); err == nil {
			t.Errorf("ParseKey(%q) worked, want an error", text)
		}
	}
}

// TestRecordedSignatures checks that payments signed by other clients recover to their payers.
func TestRecordedSignatures(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"dev-31337/payment-signature.json", "usdc-84532/payment-signature.json",
		"ext/payload-none.json", "ext/payload-identifier.json", "ext/payload-bazaarMcp.json",
	} {
		p := recorded(t, name)
		if !evm.Signed(p, p.Accepted) {
			t.Errorf("Signed(%s) = false, want true", name)
		}
		before := p.Authorization.Deadline()
		if reason := evm.Check(p, p.Accepted, before.Add(-time.Minute), 30*time.Second); reason != "" {
			t.Errorf("Check(%s) = %s, want nothing", name, reason)
		}
	}
	for _, name := range []string{"scenarios/erc1271-payload.json", "scenarios/erc6492-payload.json"} {
		p := recorded(t, name)
		if evm.Signed(p, p.Accepted) {
			t.Errorf("Signed(%s) = true, want false: the payer is a contract", name)
		}
		if reason := evm.Check(p, p.Accepted, p.Authorization.Deadline().Add(-time.Minute), 0); reason != "" {
			t.Errorf("Check(%s) = %s, want none: only the chain can verify the signature", name, reason)
		}
	}
}

// TestRecordedRefusals alters a recorded payment as in the recorded negative cases, and expects the
// same reasons.
func TestRecordedRefusals(t *testing.T) {
	t.Parallel()
	var negative map[string]struct {
		Reason x402.Reason `json:"paymentRequiredError"`
	}
	if err := json.Unmarshal(fixture(t, "usdc-84532/negative-cases.json"), &negative); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1795218800, 0)
	tests := []struct {
		name   string
		change func(a *x402.Authorization)
	}{
		{"wrong-amount-signed", func(a *x402.Authorization) { a.Value = "89999" }},
		{"overpay-signed", func(a *x402.Authorization) { a.Value = "90001" }},
		{"wrong-payto-signed", func(a *x402.Authorization) { a.To = a.From }},
		{"expired", func(a *x402.Authorization) { a.ValidBefore = fmt.Sprint(now.Unix() - 1) }},
		{"expires-in-5s", func(a *x402.Authorization) { a.ValidBefore = fmt.Sprint(now.Unix() + 5) }},
		{"not-yet-valid", func(a *x402.Authorization) { a.ValidAfter = fmt.Sprint(now.Unix() + 60) }},
	}
	key := newKey(t)
	for _, tt := range tests {
		p, err := key.Pay(terms(), nil, now)
		if err != nil {
			t.Fatal(err)
		}
		a := p.Authorization
		tt.change(&a)
		if p, err = key.Authorize(terms(), nil, a); err != nil {
			t.Fatal(err)
		}
		if got, want := evm.Check(p, terms(), now, 6*time.Second), negative[tt.name].Reason; got != want || want == "" {
			t.Errorf("Check(%s) = %q, want %q as recorded", tt.name, got, want)
		}
		if !evm.Signed(p, terms()) {
			t.Errorf("Signed(%s) = false, want true: the payer did sign it", tt.name)
		}
	}
	p := recorded(t, "usdc-84532/payment-signature.json")
	p.Signature = p.Signature[:20] + "0" + p.Signature[21:]
	if evm.Signed(p, p.Accepted) || negative["tampered-signature"].Reason != x402.ReasonSignature {
		t.Error("a tampered signature is accepted as the payer's")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	huge := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)).String()
	tests := []struct {
		name   string
		change func(p *x402.PaymentPayload, terms *x402.PaymentRequirements)
		want   x402.Reason
	}{
		{"as quoted", func(*x402.PaymentPayload, *x402.PaymentRequirements) {}, ""},
		{"receiver in lower case", func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) {
			p.Authorization.To = strings.ToLower(p.Authorization.To)
		}, ""},
		{
			"valid for ever",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Authorization.ValidBefore = huge }, "",
		},
		{
			"just long enough",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Authorization.ValidBefore = "1800000060" },
			"",
		},
		{
			"a second too short",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Authorization.ValidBefore = "1800000059" },
			x402.ReasonValidBefore,
		},
		{
			"never valid",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Authorization.ValidAfter = huge },
			x402.ReasonValidAfter,
		},
		{
			"valid from now",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Authorization.ValidAfter = "1800000000" },
			"",
		},
		{
			"other scheme", func(_ *x402.PaymentPayload, terms *x402.PaymentRequirements) { terms.Scheme = "upto" },
			x402.ReasonUnsupportedScheme,
		},
		{
			"accepted another scheme",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Accepted.Scheme = "upto" },
			x402.ReasonUnsupportedScheme,
		},
		{
			"accepted another network",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Accepted.Network = "eip155:1" },
			x402.ReasonNetworkMismatch,
		},
		{"network of another kind", func(p *x402.PaymentPayload, terms *x402.PaymentRequirements) {
			terms.Network, p.Accepted.Network = "solana:x", "solana:x"
		}, x402.ReasonNetworkMismatch},
		{
			"no domain", func(_ *x402.PaymentPayload, terms *x402.PaymentRequirements) { terms.Extra = nil },
			x402.ReasonMissingDomain,
		},
		{
			"unreadable value",
			func(p *x402.PaymentPayload, _ *x402.PaymentRequirements) { p.Authorization.Value = "1e6" },
			x402.ReasonValue,
		},
	}
	for _, tt := range tests {
		quote := terms()
		p, err := newKey(t).Pay(quote, nil, now)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(p, &quote)
		if got := evm.Check(p, quote, now, time.Minute); got != tt.want {
			t.Errorf("Check(%s) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestRecover alters a signature in every way that must be refused.
func TestRecover(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	digest := evm.Keccak([]byte("pay"))
	good := key.Sign(digest)
	order, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
	bend := func(change func(sig []byte) []byte) []byte { return change(append([]byte(nil), good...)) }
	highS := bend(func(sig []byte) []byte {
		new(big.Int).Sub(order, new(big.Int).SetBytes(sig[32:64])).FillBytes(sig[32:64])
		sig[64] = 27 + 28 - sig[64]
		return sig
	})
	tests := []struct {
		name string
		sig  []byte
		ok   bool
	}{
		{"v 27 or 28", good, true},
		{"v 0 or 1", bend(func(sig []byte) []byte { sig[64] -= 27; return sig }), true},
		{"the other v", bend(func(sig []byte) []byte { sig[64] = 27 + 28 - sig[64]; return sig }), false},
		{"v 2", bend(func(sig []byte) []byte { sig[64] = 2; return sig }), false},
		{"v 26", bend(func(sig []byte) []byte { sig[64] = 26; return sig }), false},
		{"v 29", bend(func(sig []byte) []byte { sig[64] = 29; return sig }), false},
		{"v 31", bend(func(sig []byte) []byte { sig[64] += 4; return sig }), false},
		{"v 255", bend(func(sig []byte) []byte { sig[64] = 255; return sig }), false},
		{"s in the upper half", highS, false},
		{"s is zero", bend(func(sig []byte) []byte { clear(sig[32:64]); return sig }), false},
		{"r is zero", bend(func(sig []byte) []byte { clear(sig[:32]); return sig }), false},
		{"r is the order", bend(func(sig []byte) []byte { order.FillBytes(sig[:32]); return sig }), false},
		{"s is the order", bend(func(sig []byte) []byte { order.FillBytes(sig[32:64]); return sig }), false},
		{"64 bytes", good[:64], false},
		{"66 bytes", append(append([]byte(nil), good...), 0), false},
		{"nothing", nil, false},
	}
	for _, tt := range tests {
		got, err := evm.Recover(digest, tt.sig)
		if (err == nil && got == key.Address()) != tt.ok {
			t.Errorf("Recover(%s) = %s, %v, want the signer: %v", tt.name, got, err, tt.ok)
		}
	}
	if got, err := evm.Recover(evm.Keccak([]byte("pay more")), good); err == nil && got == key.Address() {
		t.Error("a signature counts for another message")
	}
}

// TestSignedFor checks that a signature is valid for one token on one chain.
func TestSignedFor(t *testing.T) {
	t.Parallel()
	quote := terms()
	p, err := newKey(t).Pay(quote, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(terms *x402.PaymentRequirements, p *x402.PaymentPayload)
		want   bool
	}{
		{"as quoted", func(*x402.PaymentRequirements, *x402.PaymentPayload) {}, true},
		{"other chain", func(r *x402.PaymentRequirements, _ *x402.PaymentPayload) { r.Network = "eip155:8453" }, false},
		{"other token", func(r *x402.PaymentRequirements, _ *x402.PaymentPayload) { r.Asset = r.PayTo }, false},
		{"other name", func(r *x402.PaymentRequirements, _ *x402.PaymentPayload) {
			r.Extra = map[string]any{"name": "USD Coin", "version": "1"}
		}, false},
		{"other version", func(r *x402.PaymentRequirements, _ *x402.PaymentPayload) {
			r.Extra = map[string]any{"name": "Dev USD", "version": "2"}
		}, false},
		{
			"other value", func(_ *x402.PaymentRequirements, p *x402.PaymentPayload) { p.Authorization.Value = "1" },
			false,
		},
		{
			"other payer",
			func(_ *x402.PaymentRequirements, p *x402.PaymentPayload) { p.Authorization.From = p.Authorization.To },
			false,
		},
		{
			"unreadable signature", func(_ *x402.PaymentRequirements, p *x402.PaymentPayload) { p.Signature = "0xzz" },
			false,
		},
		{
			"unreadable nonce",
			func(_ *x402.PaymentRequirements, p *x402.PaymentPayload) { p.Authorization.Nonce = "0x01" }, false,
		},
		{"unreadable token", func(r *x402.PaymentRequirements, _ *x402.PaymentPayload) { r.Asset = "usdc" }, false},
		{"no domain", func(r *x402.PaymentRequirements, _ *x402.PaymentPayload) { r.Extra = nil }, false},
	}
	for _, tt := range tests {
		bentTerms, bent := quote, *p
		tt.change(&bentTerms, &bent)
		if got := evm.Signed(&bent, bentTerms); got != tt.want {
			t.Errorf("Signed(%s) = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestTokens checks that every token of the table can be quoted.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, network := range []string{
		evm.DevNetwork, "eip155:8453", "eip155:84532", "eip155:1", "eip155:137",
		"eip155:42161",
	} {
		token, ok := evm.TokenOf(network)
		if a, err := evm.ParseAddress(token.Asset); !ok || err != nil || a.String() != token.Asset {
			t.Errorf("token of %s = %+v, %v, want one with a checksum", network, token, err)
		}
		quote := token.Terms("100000", "0x90F79bf6EB2c4f870365E785982E1f101E93b906", 300)
		if err := quote.Check(); err != nil || !token.Is(quote) {
			t.Errorf("terms of %s = %+v, %v", network, quote, err)
		}
		quote.Extra["name"] = "Other"
		if token.Is(quote) {
			t.Errorf("terms under another domain match the token of %s", network)
		}
	}
	if token, ok := evm.TokenOf("eip155:5"); ok {
		t.Errorf("token of an unknown network = %+v", token)
	}
	if got := evm.DevToken().Network; got != evm.DevNetwork {
		t.Errorf("network of the development token = %s", got)
	}
}

func TestPayRefusals(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*x402.PaymentRequirements){
		"no domain":     func(r *x402.PaymentRequirements) { r.Extra = nil },
		"unknown chain": func(r *x402.PaymentRequirements) { r.Network = "solana:x" },
		"bad token":     func(r *x402.PaymentRequirements) { r.Asset = "0x1" },
		"bad receiver":  func(r *x402.PaymentRequirements) { r.PayTo = "me" },
		"bad amount":    func(r *x402.PaymentRequirements) { r.Amount = "0.1" },
	} {
		quote := terms()
		change(&quote)
		if _, err := newKey(t).Pay(quote, nil, time.Now()); err == nil {
			t.Errorf("Pay(%s) worked, want an error", name)
		}
	}
}

func FuzzRecover(f *testing.F) {
	digest := evm.Keccak([]byte("pay"))
	f.Add(make([]byte, 65))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, signature []byte) {
		a, err := evm.Recover(digest, signature)
		if err == nil && a.IsZero() {
			t.Errorf("Recover(%x) = the zero address", signature)
		}
	})
}

func BenchmarkSigned(b *testing.B) {
	quote := terms()
	p, err := newKey(b).Pay(quote, nil, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !evm.Signed(p, quote) {
			b.Fatal("the signature does not count")
		}
	}
}

func BenchmarkReadAndVerify(b *testing.B) {
	header := fixture(b, "usdc-84532/payment-signature.b64")
	for b.Loop() {
		p, err := x402.ParsePayment(string(header))
		if err != nil || !evm.Signed(p, p.Accepted) {
			b.Fatal(err)
		}
	}
}

func ExampleKey_Pay() {
	key, err := evm.ParseKey(strings.Repeat("0", 63) + "1")
	if err != nil {
		fmt.Println(err)
		return
	}
	terms := x402.PaymentRequirements{
		Scheme: "exact", Network: "eip155:31337", Amount: "90000", Asset: "0xDe00000000000000000000000000000000000402",
		PayTo: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", MaxTimeoutSeconds: 300,
		Extra: map[string]any{"name": "Dev USD", "version": "1"},
	}
	now := time.Unix(1_800_000_000, 0)
	payment, err := key.Pay(terms, nil, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	signature, _ := hex.DecodeString(payment.Signature[2:])
	fmt.Println(payment.Authorization.From, len(signature), payment.Authorization.ValidBefore)
	fmt.Println(evm.Signed(payment, terms), evm.Check(payment, terms, now, time.Minute) == "")
	// Output:
	// 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf 65 1800000300
	// true true
}
