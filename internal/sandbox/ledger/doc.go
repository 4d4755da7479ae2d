// Package ledger is the x402 facilitator of the sandbox: a table of balances
// in place of a chain, with the checks of a real one. It is reached over HTTP
// like any other facilitator (https://github.com/x402-foundation/x402,
// specification version 2).
//
//	/verify     scheme, token, signature (EIP-712), receiver, times, amount,
//	            nonce, balance
//	/settle     the same, then one transaction: the nonce is spent, the money
//	            moves. The same authorization gets the same response again.
//	/supported  exact on eip155:31337
//	/faucet     more money; a payer who is seen for the first time has 5.00
//	/tx/{hash}, /accounts/{address}, /  what happened, for programs and people
//	/_sandbox/  faults and state, for tests on the same machine
//
// The network has a number of its own on purpose: a signature for a chain that
// exists could be spent there.
//
// Time is the clock of this machine, not the sandbox's: a payer signs with its
// own clock, and a chain has one of its own too.
package ledger
