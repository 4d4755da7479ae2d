package tooltest_test

import (
	"testing"

	"ace/internal/platform/tool"
	"ace/internal/platform/tool/tooltest"
)

func TestMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	tooltest.Run(t, func(*testing.T) tool.Store { return tooltest.NewMemory() })
}
