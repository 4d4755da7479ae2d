package connectiontest_test

import (
	"testing"

	"ace/internal/platform/connection/connectiontest"
)

func TestMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	connectiontest.Run(t, func(*testing.T) (connectiontest.Store, string, string) {
		return connectiontest.NewMemory(), "acc_a", "acc_b"
	})
}
