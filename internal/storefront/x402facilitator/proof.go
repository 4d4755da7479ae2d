package x402facilitator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

// Events of tokens, by the hash of their signature.
const (
	// AuthorizationUsed(address,bytes32)
	topicUsed = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
	// AuthorizationCanceled(address,bytes32)
	topicCanceled = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81"
	// Transfer(address,address,uint256)
	topicTransfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
)

// event is what a contract wrote down in a transaction.
type event struct {
	Address   string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Block     quantity `json:"blockNumber"`
	BlockHash string   `json:"blockHash"`
	Tx        string   `json:"transactionHash"`
	Index     quantity `json:"logIndex"`
	Removed   bool     `json:"removed"`
}

func (e *event) is(topic string) bool {
	return len(e.Topics) > 0 && strings.EqualFold(e.Topics[0], topic)
}

// about reports whether the topics after the first are these words.
func (e *event) about(words ...string) bool {
	if len(e.Topics) != len(words)+1 {
		return false
	}
	for i, w := range words {
		if !strings.EqualFold(strings.TrimPrefix(e.Topics[i+1], "0x"), word(w)) {
			return false
		}
	}
	return true
}

// errUnclear reports that the chain holds the result in a form that cannot be
// read: a person has to look.
var errUnclear = errors.New(
	"a transaction uses several authorizations and does not tell which transfer belongs to which")

// Find implements paidservice.Prover.
func (c *Chains) Find(ctx context.Context, auth paidservice.Authorization, from int64) (paidservice.Proof, error) {
	n, chain, err := c.node(auth.Network)
	if err != nil {
		return paidservice.Proof{}, err
	}
	var latest block
	if err := n.call(ctx, &latest, "eth_getBlockByNumber", "latest", false); err != nil {
		return paidservice.Proof{}, err
	}
	head := int64(latest.Number)
	farthest := max(0, head-chain.Lookback)
	if from = min(from, head); from <= 0 {
		from = farthest
	}
	events, err := n.marks(ctx, auth, max(0, from-2), head) // another node may have been ahead
	if err == nil && len(events) == 0 && farthest < from {
		var used bool
		if used, err = n.used(ctx, auth, "latest"); used { // before it was shown to us
			events, err = n.marks(ctx, auth, farthest, from)
		}
	}
	if err != nil {
		return paidservice.Proof{}, err
	}
	if len(events) == 0 {
		return n.unused(ctx, auth, latest, chain)
	}
	e := events[0]
	verdict, err := n.checkEvent(ctx, auth, e)
	if err != nil {
		return paidservice.Proof{}, err
	}
	return paidservice.Proof{
		Verdict: verdict, Tx: strings.ToLower(e.Tx), Block: int64(e.Block),
		Final: head-int64(e.Block) >= chain.Confirmations,
	}, nil
}

// block is what is asked of a block.
type block struct {
	Number    quantity `json:"number"`
	Timestamp quantity `json:"timestamp"`
}

// span is how many blocks a question may cover for the strictest of nodes.
const span = 500

// marks looks for the use or the cancellation of an authorization.
func (n *node) marks(ctx context.Context, auth paidservice.Authorization, from, to int64) ([]event, error) {
	events, err := n.logs(ctx, auth, from, to)
	if refused := new(nodeError); !errors.As(err, &refused) || to-from < span {
		return events, err
	}
	// Nodes refuse questions about many blocks, each with a bound of its own.
	for start := from; start <= to; start += span {
		if events, err = n.logs(ctx, auth, start, min(to, start+span-1)); err != nil || len(events) > 0 {
			return events, err
		}
	}
	return nil, nil
}

func (n *node) logs(ctx context.Context, auth paidservice.Authorization, from, to int64) ([]event, error) {
	var events []event
	err := n.call(ctx, &events, "eth_getLogs", map[string]any{
		"address": auth.Asset, "fromBlock": tag(from), "toBlock": tag(to),
		"topics": []any{[]string{topicUsed, topicCanceled}, "0x" + word(auth.Payer), "0x" + word(auth.Nonce)},
	})
	// A node that ignores the filter must not make a stranger's event ours.
	return slices.DeleteFunc(events, func(e event) bool {
		return e.Removed || !strings.EqualFold(e.Address, auth.Asset) || !e.is(topicUsed) && !e.is(topicCanceled) ||
			!e.about(auth.Payer, auth.Nonce)
	}), err
}

// receipt is the outcome of a transaction.
type receipt struct {
	Status    quantity `json:"status"`
	Block     quantity `json:"blockNumber"`
	BlockHash string   `json:"blockHash"`
	Logs      []event  `json:"logs"`
}

// checkEvent says what an event means: paid only where the transfer that belongs to
// it brought the amount to the receiver.
func (n *node) checkEvent(ctx context.Context, auth paidservice.Authorization, e event) (paidservice.Verdict, error) {
	var r *receipt
	if err := n.call(ctx, &r, "eth_getTransactionReceipt", e.Tx); err != nil {
		return "", err
	}
	if r == nil || !strings.EqualFold(r.BlockHash, e.BlockHash) {
		return "", fmt.Errorf("the transaction %s has just moved to another block", e.Tx)
	}
	if r.Status != 1 {
		return "", fmt.Errorf("the node shows an event of the transaction %s, which it says failed", e.Tx)
	}
	if e.is(topicCanceled) {
		return paidservice.ProofVoid, nil
	}
	ofToken := slices.DeleteFunc(r.Logs, func(l event) bool { return !strings.EqualFold(l.Address, auth.Asset) })
	slices.SortFunc(ofToken, func(a, b event) int { return int(a.Index - b.Index) })
	transfer, err := transferOf(ofToken, auth)
	if err != nil {
		return "", fmt.Errorf("reading the transaction %s: %w", e.Tx, err)
	}
	if transfer != nil && transfer.brings(auth) {
		return paidservice.ProofPaid, nil
	}
	return paidservice.ProofVoid, nil
}

// transferOf returns the transfer that belongs to the use of an authorization.
// A transaction may use several of one payer, of which only some pay us: the
// transfer must not be counted for another. Tokens write it down right after
// the use, or right before; all uses in a transaction show which it is.
func transferOf(events []event, auth paidservice.Authorization) (*event, error) {
	var uses []int
	ours := -1
	for i := range events {
		if !events[i].is(topicUsed) || len(events[i].Topics) != 3 {
			continue
		}
		uses = append(uses, i)
		if events[i].about(auth.Payer, auth.Nonce) {
			ours = i
		}
	}
	if ours < 0 {
		return nil, errors.New("the receipt does not show the use")
	}
	for _, step := range []int{1, -1} {
		fits := func(i int) bool {
			at := i + step
			return at >= 0 && at < len(events) && events[at].is(topicTransfer) && len(events[at].Topics) == 3 &&
				strings.EqualFold(events[at].Topics[1], events[i].Topics[1])
		}
		all := true
		for _, i := range uses {
			all = all && fits(i)
		}
		if all {
			return &events[ours+step], nil
		}
	}
	if len(uses) > 1 {
		return nil, errUnclear
	}
	// A token that writes other events in between: one use, one payment.
	for i := range events {
		if events[i].brings(auth) {
			return &events[i], nil
		}
	}
	return nil, nil
}

// brings reports whether a transfer is the one that was authorized.
func (e *event) brings(auth paidservice.Authorization) bool {
	amount, err := x402.ParseAmount(auth.Amount)
	return err == nil && e.is(topicTransfer) && e.about(auth.Payer, auth.PayTo) &&
		strings.EqualFold(strings.TrimPrefix(e.Data, "0x"), word(amount.Text(16)))
}

// unused says whether an authorization without a trace can still be used.
func (n *node) unused(ctx context.Context, auth paidservice.Authorization, latest block,
	chain Chain,
) (paidservice.Proof, error) {
	open := paidservice.Proof{Verdict: paidservice.ProofOpen}
	used, err := n.used(ctx, auth, "latest")
	if err != nil {
		return paidservice.Proof{}, err
	}
	if used {
		return paidservice.Proof{}, errors.New(
			"the token says that the authorization was used, and its event was not found: the node may be behind")
	}
	if int64(latest.Timestamp) < auth.ValidBefore {
		return open, nil
	}
	// No block after one whose time is past the end can use it. That counts
	// once the block cannot be reverted.
	settled, err := n.settledBlock(ctx, int64(latest.Number), chain)
	if err != nil {
		return paidservice.Proof{}, err
	}
	if settled == nil || int64(settled.Timestamp) < auth.ValidBefore {
		return open, nil
	}
	used, err = n.used(ctx, auth, tag(int64(settled.Number)))
	switch {
	case err != nil:
		return paidservice.Proof{}, err
	case used:
		return paidservice.Proof{}, errors.New("the node contradicts itself about the authorization")
	}
	return paidservice.Proof{Verdict: paidservice.ProofVoid, Final: true}, nil
}

// used asks the token whether a nonce is spent or canceled.
func (n *node) used(ctx context.Context, auth paidservice.Authorization, block string) (bool, error) {
	data, err := n.read(ctx, auth.Asset, callAuthorizationState+word(auth.Payer)+word(auth.Nonce), block)
	if err != nil {
		return false, err
	}
	state, err := asNumber(data)
	if err != nil {
		return false, err
	}
	return state.Sign() != 0, nil
}

// settledBlock is the newest block that is not expected to be reverted: the
// chain's own word for it, or one that many follow. Nil: there is none yet.
func (n *node) settledBlock(ctx context.Context, head int64, chain Chain) (*block, error) {
	var b *block
	err := n.call(ctx, &b, "eth_getBlockByNumber", "safe", false)
	if refused := new(nodeError); err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	if err == nil && b != nil && int64(b.Number) <= head {
		return b, nil
	}
	if head < chain.Confirmations {
		return nil, nil
	}
	err = n.call(ctx, &b, "eth_getBlockByNumber", "0x"+strconv.FormatInt(head-chain.Confirmations, 16), false)
	return b, err
}
