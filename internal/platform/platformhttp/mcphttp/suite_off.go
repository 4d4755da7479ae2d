//go:build !conformance

package mcphttp

import "ace/internal/protocol/mcp"

// addSuiteTools adds nothing to the product.
func addSuiteTools(*mcp.Server) {}
