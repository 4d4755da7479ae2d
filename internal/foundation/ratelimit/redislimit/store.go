package redislimit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"ace/internal/foundation/ratelimit"
)

// Options are the settings of a Store that have defaults.
type Options struct {
	// Prefix precedes every key. Default "ace:limit:".
	Prefix string
	// Digest makes what is in Redis of a client's key; it has to be the same
	// on all replicas. Default: half of its SHA-256.
	Digest func(key string) string
	// Timeout bounds one question to Redis. Default 20 ms.
	Timeout time.Duration
	// Slots is how many clients are counted here while Redis is unavailable. Default
	// 1,048,576, which takes 17 MiB.
	Slots int
}

// How often a replica reports that it is alive, when it counts as gone, and how
// often Redis is tried while it is unavailable.
const (
	beatEvery   = 10 * time.Second
	replicaLife = 3 * beatEvery
	retryEvery  = time.Second
	beatTimeout = time.Second
)

var errAway = errors.New("redis is unavailable")

// Store is one Redis. It is safe for concurrent use.
type Store struct {
	client  *redis.Client
	log     *slog.Logger
	options Options
	id      string // of this replica
	epoch   time.Time
	local   *ratelimit.Table
	denials *denials
	scripts map[string]*redis.Script

	replicas atomic.Int64 // as last seen, at least 1
	retryAt  atomic.Int64 // nanoseconds since epoch before which Redis is not called; 0: it is available
	mu       sync.Mutex   // orders the log lines of coming and going
	away     bool
}

// Open prepares a store at an address: redis://user:password@host:6379/0, or
// rediss:// with TLS. Nothing is asked yet; a Redis that is unavailable is no error.
// The error never holds the address. Close the store.
func Open(address string, log *slog.Logger, o *Options) (*Store, error) {
	settings, err := redis.ParseURL(address)
	if err != nil {
		return nil,
			errors.New("the address of Redis cannot be used: write redis://user:password@host:6379/0 or rediss://…")
	}
	logging.Disable() // of the client, for the process: it does not use our log; what matters is logged here
	s := &Store{log: log, id: rand.Text(), epoch: time.Now(), denials: newDenials()}
	if o != nil {
		s.options = *o
	}
	if s.options.Prefix == "" {
		s.options.Prefix = "ace:limit:"
	}
	if s.options.Digest == nil {
		s.options.Digest = digest
	}
	if s.options.Timeout <= 0 {
		s.options.Timeout = 20 * time.Millisecond
	}
	settings.ContextTimeoutEnabled = true
	settings.MaxRetries = -1 // the limiter here is the second try
	settings.DialTimeout = beatTimeout
	settings.DialerRetries = 1
	settings.ReadTimeout, settings.WriteTimeout, settings.PoolTimeout = beatTimeout, beatTimeout, s.options.Timeout
	settings.MinIdleConns = 2
	settings.DisableIdentity = true
	settings.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s.client = redis.NewClient(settings)
	s.local = ratelimit.NewTable(&ratelimit.TableOptions{Slots: s.options.Slots})
	s.scripts = map[string]*redis.Script{}
	for name, text := range map[string]string{
		"gcra": gcraScript, "refund": refundScript, "window": windowScript,
		"beat": beatScript,
	} {
		s.scripts[name] = redis.NewScript(text)
	}
	s.replicas.Store(1)
	return s, nil
}

func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Close ends all connections.
func (s *Store) Close() error { return s.client.Close() }

// Away reports whether the last call of Redis failed.
func (s *Store) Away() bool { return s.retryAt.Load() != 0 }

// Replicas is how many replicas were alive at the last exchange, this one
// included.
func (s *Store) Replicas() int { return int(s.replicas.Load()) }

// Run reports to Redis that this replica is alive, until ctx ends, and then that it
// does not.
func (s *Store) Run(ctx context.Context) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	s.beat(ctx)
	for {
		select {
		case <-beat.C:
			s.beat(ctx)
		case <-retry.C:
			if s.Away() {
				s.beat(ctx)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
			defer cancel()
			_ = s.client.ZRem(last, s.replicasKey(), s.id).Err() // otherwise it is forgotten by time
			return
		}
	}
}

func (s *Store) replicasKey() string { return s.options.Prefix + "replicas" }

func (s *Store) beat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	n, err := s.scripts["beat"].Run(ctx, s.client, []string{s.replicasKey()}, s.id, replicaLife.Milliseconds()).Int64()
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.settle(err)
	if err == nil {
		s.replicas.Store(max(n, 1))
	}
}

// ask runs a script, unless Redis is known to be unavailable. The end of the request
// does not end the question: what a client breaks off is counted too.
func (s *Store) ask(ctx context.Context, script, key string, args ...any) ([]int64, error) {
	if retryAt := s.retryAt.Load(); retryAt != 0 {
		now := int64(time.Since(s.epoch))
		if now < retryAt || !s.retryAt.CompareAndSwap(retryAt, now+int64(retryEvery)) {
			return nil, errAway
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	answer, err := s.scripts[script].Run(ctx, s.client, []string{s.options.Prefix + key}, args...).Int64Slice()
	if err == nil && len(answer) != 4 {
		err = fmt.Errorf("redis answered %d numbers to %s", len(answer), script)
	}
	s.settle(err)
	return answer, err
}

// settle records whether Redis responds, and logs changes.
func (s *Store) settle(err error) {
	if err == nil && s.retryAt.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.retryAt.Store(int64(time.Since(s.epoch) + retryEvery))
	} else {
		s.retryAt.Store(0)
	}
	if s.away == (err != nil) {
		return
	}
	s.away = err != nil
	if s.away {
		s.log.Warn("redis is unavailable, rate limits are counted on each replica", "replicas", s.Replicas(), "error",
			err.Error())
		return
	}
	s.log.Info("redis is back, rate limits are shared again")
}
