package x402facilitator

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/egress"
)

// rpcTimeout bounds one question to a node.
const rpcTimeout = 10 * time.Second

// maxRPC bounds a response of a node, in bytes.
const maxRPC = 1 << 20

// node is one JSON-RPC endpoint of a chain. Its address is a secret.
type node struct {
	network string
	url     string
	client  *http.Client
}

// nodeError is what a node returned instead of a result.
type nodeError struct {
	Code    int
	Message string
}

// Error shows the code alone: messages of nodes may quote their address.
func (e *nodeError) Error() string { return "the node answered error " + strconv.Itoa(e.Code) }

// call asks one question and reads the result into v.
func (n *node) call(ctx context.Context, v any, method string, params ...any) error {
	if err := n.ask(ctx, v, method, params); err != nil {
		return fmt.Errorf("asking the node of %s for %s: %w", n.network, method, err)
	}
	return nil
}

func (n *node) ask(ctx context.Context, v any, method string, params []any) error {
	ctx, cancel := context.WithTimeout(ctx, rpcTimeout)
	defer cancel()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address cannot be used") // the cause quotes it
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := n.client.Do(req)
	if err != nil {
		return egress.Cause(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxRPC+1))
	if err != nil {
		return egress.Cause(err)
	}
	if len(data) > maxRPC {
		return fmt.Errorf("it answered with more than %d bytes", maxRPC)
	}
	return decodeRPC(res.StatusCode, data, v)
}

func decodeRPC(status int, data []byte, v any) error {
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *nodeError      `json:"error"`
	}
	if err := json.Unmarshal(data, &answer); err != nil || status != http.StatusOK && answer.Error == nil {
		return fmt.Errorf("it answered with status %d", status)
	}
	if answer.Error != nil {
		return answer.Error
	}
	if len(answer.Result) == 0 {
		return errors.New("its answer has no result")
	}
	return json.Unmarshal(answer.Result, v)
}

// quantity is a number as nodes write it: 0x and hex digits.
type quantity int64

// UnmarshalJSON reads "0x1f".
func (q *quantity) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	digits, ok := strings.CutPrefix(text, "0x")
	n, err := strconv.ParseInt(digits, 16, 64)
	if !ok || err != nil {
		return errors.New("a number is not written as 0x and hex digits")
	}
	*q = quantity(n)
	return nil
}

// tag writes a block's number for a question.
func tag(block int64) string { return "0x" + strconv.FormatInt(block, 16) }

// octets are bytes as nodes write them.
type octets []byte

// UnmarshalJSON reads "0x00ff".
func (o *octets) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	digits, ok := strings.CutPrefix(text, "0x")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return errors.New("bytes are not written as 0x and hex digits")
	}
	*o = b
	return nil
}

// read calls a function of a contract that changes nothing.
func (n *node) read(ctx context.Context, contract, data, block string) (octets, error) {
	var out octets
	err := n.call(ctx, &out, "eth_call", map[string]string{"to": contract, "data": data}, block)
	return out, err
}

// Functions of tokens, by the first four bytes of their hash.
const (
	callName               = "0x06fdde03" // name()
	callVersion            = "0x54fd4d50" // version()
	callDecimals           = "0x313ce567" // decimals()
	callSeparator          = "0x3644e515" // DOMAIN_SEPARATOR()
	callAuthorizationState = "0xe94a0102" // authorizationState(address,bytes32)
)

// word pads hex digits to the left, to 32 bytes.
func word(digits string) string {
	digits = strings.TrimPrefix(strings.ToLower(digits), "0x")
	return strings.Repeat("0", max(0, 64-len(digits))) + digits
}

// asNumber reads a word that a contract returned.
func asNumber(data octets) (*big.Int, error) {
	if len(data) != 32 {
		return nil, fmt.Errorf("the contract answered %d bytes where a word was expected", len(data))
	}
	return new(big.Int).SetBytes(data), nil
}

// asText reads a string that a contract returned: where it begins, how long it
// is, its bytes.
func asText(data octets) (string, error) {
	errShape := errors.New("the contract answered something else than a string")
	if len(data) < 64 {
		return "", errShape
	}
	at := new(big.Int).SetBytes(data[:32])
	if !at.IsInt64() || at.Int64() > int64(len(data)-32) || at.Int64() < 0 {
		return "", errShape
	}
	rest := data[at.Int64():]
	size := new(big.Int).SetBytes(rest[:32])
	if !size.IsInt64() || size.Int64() > int64(len(rest)-32) {
		return "", errShape
	}
	return string(rest[32 : 32+size.Int64()]), nil
}
