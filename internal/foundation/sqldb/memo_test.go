package sqldb_test

import (
	"database/sql"
	"errors"
	"sync"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
)

// counter is a table of one number, and how often it was read.
type counter struct {
	db    *sqldb.DB
	memo  sqldb.Memo[string, int]
	mu    sync.Mutex
	reads int
}

func newCounter(t *testing.T, dsn string) *counter {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c := &counter{db: db}
	c.write(t, `CREATE TABLE counter (n BIGINT NOT NULL)`, nil)
	c.write(t, `INSERT INTO counter (n) VALUES (0)`, nil)
	return c
}

func (c *counter) write(t *testing.T, statement string, fails error) {
	t.Helper()
	err := c.db.Tx(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			return err
		}
		return fails
	})
	if !errors.Is(err, fails) {
		t.Fatal(err)
	}
}

func (c *counter) get(t *testing.T, key string) int {
	t.Helper()
	n, err := c.memo.Get(c.db, key, func() (n int, keep bool, err error) {
		c.mu.Lock()
		c.reads++
		c.mu.Unlock()
		err = c.db.Reader().QueryRowContext(t.Context(), `SELECT n FROM counter`).Scan(&n)
		return n, key != "unkept", err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

func TestMemo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dsn  func(testing.TB) string
		once bool
	}{"sqlite": {sqldbtest.SQLite, true}, "postgres": {sqldbtest.Postgres, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounter(t, tt.dsn(t))
			for range 5 {
				c.get(t, "a")
			}
			if once := c.reads == 1; once != tt.once {
				t.Errorf("five questions made %d reads", c.reads)
			}
			c.write(t, `UPDATE counter SET n = 7`, nil)
			if n := c.get(t, "a"); n != 7 {
				t.Errorf("after a write = %d, want 7", n)
			}
			c.write(t, `UPDATE counter SET n = 8`, errors.New("rolled back"))
			if n := c.get(t, "a"); n != 7 {
				t.Errorf("after a write that was rolled back = %d, want 7", n)
			}
			before := c.reads
			c.get(t, "unkept")
			c.get(t, "unkept")
			if c.reads != before+2 {
				t.Errorf("what may not be kept was read %d times, want 2", c.reads-before)
			}
			for i := range 3000 { // more than a memo holds
				c.get(t, string(rune('A'+i)))
			}
		})
	}
}

// TestMemoIsNeverOld: a caller that saw a write return reads what it wrote, while
// others read and write.
func TestMemoIsNeverOld(t *testing.T) {
	t.Parallel()
	c := newCounter(t, sqldbtest.SQLite(t))
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			last := 0
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := c.get(t, "a")
				if n < last {
					t.Errorf("%d after %d", n, last)
					return
				}
				last = n
			}
		})
	}
	for i := 1; i <= 300; i++ {
		c.write(t, `UPDATE counter SET n = n + 1`, nil)
		if n := c.get(t, "a"); n != i {
			t.Errorf("after write %d = %d", i, n)
			break
		}
	}
	close(stop)
	readers.Wait()
}
