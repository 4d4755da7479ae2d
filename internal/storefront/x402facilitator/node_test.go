package x402facilitator_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/x402facilitator"
)

// node is a chain with one token, as a JSON-RPC node tells it.
type node struct {
	mu        sync.Mutex
	chainID   uint64
	head      int64
	safe      int64 // -1: the node knows no such tag
	now       int64 // time of the newest block; one second per block
	used      map[string]bool
	events    []event
	receipts  map[string]receipt
	code      string
	facts     map[string]string // by first bytes of the call
	maxBlocks int64             // of a question for logs; 0: any number
	foreign   bool              // answers questions for logs with everything
	asked     int               // questions for logs
	url       string
}

type event struct {
	Address         string   `json:"address"`
	Topics          []string `json:"topics"`
	Data            string   `json:"data"`
	BlockNumber     string   `json:"blockNumber"`
	BlockHash       string   `json:"blockHash"`
	TransactionHash string   `json:"transactionHash"`
	LogIndex        string   `json:"logIndex"`
	Removed         bool     `json:"removed"`
}

type receipt struct {
	Status      string  `json:"status"`
	BlockNumber string  `json:"blockNumber"`
	BlockHash   string  `json:"blockHash"`
	Logs        []event `json:"logs"`
}

const (
	used     = "AuthorizationUsed(address,bytes32)"
	canceled = "AuthorizationCanceled(address,bytes32)"
	transfer = "Transfer(address,address,uint256)"
)

func pad(digits string) string {
	digits = strings.ToLower(strings.TrimPrefix(digits, "0x"))
	return "0x" + strings.Repeat("0", 64-len(digits)) + digits
}

func hexNumber(n int64) string { return "0x" + strconv.FormatInt(n, 16) }

// mark is an event of the token: a name, its words, and a value.
func mark(name, a, b string, value int64) event {
	e := event{Address: terms().Asset, Topics: []string{evm.Keccak([]byte(name)).String(), pad(a), pad(b)}, Data: "0x"}
	if name == transfer {
		e.Data = pad(big.NewInt(value).Text(16))
	}
	return e
}

// mine puts a transaction with these events into a block.
func (n *node) mine(tx string, block int64, events ...event) {
	hash := evm.Keccak([]byte(fmt.Sprint("block", block))).String()
	for i := range events {
		e := &events[i]
		e.BlockNumber, e.BlockHash, e.TransactionHash, e.LogIndex = hexNumber(block), hash, tx, hexNumber(int64(i))
		if name := e.Topics[0]; name == evm.Keccak([]byte(used)).String() ||
			name == evm.Keccak([]byte(canceled)).String() {
			n.used[e.Topics[2]] = true
		}
	}
	n.events = append(n.events, events...)
	n.receipts[tx] = receipt{Status: "0x1", BlockNumber: hexNumber(block), BlockHash: hash, Logs: events}
}

// newNode starts a node at block 1000 whose token is the one of terms.
func newNode(t testing.TB) *node {
	t.Helper()
	domain, err := evm.DomainOf(terms())
	if err != nil {
		t.Fatal(err)
	}
	n := &node{
		chainID: 84532, head: 1000, safe: 990, now: 1_800_000_000, used: map[string]bool{},
		receipts: map[string]receipt{}, code: "0x6080",
		facts: map[string]string{
			"0x06fdde03": text("USDC"), "0x54fd4d50": text("2"), "0x313ce567": pad("6"),
			"0x3644e515": domain.Separator().String(),
		},
	}
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	n.url = s.URL + "/v3/secret-key"
	return n
}

// text is a string as a contract answers it.
func text(s string) string {
	padded := s + strings.Repeat("\x00", 31-(len(s)+31)%32)
	return pad("20") + pad(strconv.FormatInt(int64(len(s)), 16))[2:] + hex.EncodeToString([]byte(padded))
}

func (n *node) chains(t testing.TB) *x402facilitator.Chains {
	t.Helper()
	c, err := x402facilitator.NewChains(http.DefaultClient,
		x402facilitator.Chain{Network: "eip155:84532", RPC: n.url, Lookback: 900})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ServeHTTP responds to one call.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v3/secret-key" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	result, err := n.answer(q.Method, q.Params)
	n.mu.Unlock()
	out := map[string]any{"jsonrpc": "2.0", "id": 1, "result": result}
	if err != nil {
		out = map[string]any{
			"jsonrpc": "2.0", "id": 1,
			"error": map[string]any{"code": -32000, "message": err.Error() + " at " + n.url},
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (n *node) answer(method string, params []json.RawMessage) (any, error) {
	str := func(i int) (s string) { _ = json.Unmarshal(params[i], &s); return s }
	switch method {
	case "eth_chainId":
		return hexNumber(int64(n.chainID)), nil
	case "eth_blockNumber":
		return hexNumber(n.head), nil
	case "eth_getCode":
		return n.code, nil
	case "eth_getBlockByNumber":
		return n.block(str(0))
	case "eth_getTransactionReceipt":
		r, ok := n.receipts[str(0)]
		if !ok {
			return nil, nil
		}
		return r, nil
	case "eth_call":
		var call struct{ Data string }
		_ = json.Unmarshal(params[0], &call)
		if strings.HasPrefix(call.Data, "0xe94a0102") {
			if n.used["0x"+call.Data[10+64:]] {
				return pad("1"), nil
			}
			return pad("0"), nil
		}
		if fact, ok := n.facts[call.Data]; ok {
			return fact, nil
		}
		return nil, fmt.Errorf("execution reverted")
	case "eth_getLogs":
		return n.logs(params[0])
	}
	return nil, fmt.Errorf("the method %s does not exist", method)
}

func (n *node) block(name string) (any, error) {
	number := n.head
	switch {
	case name == "safe" && n.safe < 0:
		return nil, fmt.Errorf("unknown block tag")
	case name == "safe":
		number = n.safe
	case strings.HasPrefix(name, "0x"):
		number, _ = strconv.ParseInt(name[2:], 16, 64)
	}
	return map[string]any{
		"number": hexNumber(number), "timestamp": hexNumber(n.now - (n.head - number)),
		"hash": "0x1",
	}, nil
}

func (n *node) logs(param json.RawMessage) (any, error) {
	n.asked++
	var q struct {
		FromBlock, ToBlock string
		Topics             []any
	}
	_ = json.Unmarshal(param, &q)
	from, _ := strconv.ParseInt(q.FromBlock[2:], 16, 64)
	to, _ := strconv.ParseInt(q.ToBlock[2:], 16, 64)
	if n.maxBlocks > 0 && to-from >= n.maxBlocks {
		return nil, fmt.Errorf("query exceeds max block range")
	}
	found := []event{}
	for _, e := range n.events {
		at, _ := strconv.ParseInt(e.BlockNumber[2:], 16, 64)
		kinds := fmt.Sprint(q.Topics[0])
		if n.foreign || at >= from && at <= to && strings.Contains(kinds, e.Topics[0]) && q.Topics[1] == e.Topics[1] &&
			q.Topics[2] == e.Topics[2] {
			found = append(found, e)
		}
	}
	return found, nil
}
