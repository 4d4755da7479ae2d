package broadcast

import (
	"sync"
	"testing"
)

func heard(news <-chan struct{}) bool {
	select {
	case <-news:
		return true
	default:
		return false
	}
}

func TestBroadcaster(t *testing.T) {
	t.Parallel()
	var b Broadcaster
	b.Publish("a") // to nobody
	first, done := b.Subscribe("a")
	second, doneSecond := b.Subscribe("a")
	other, doneOther := b.Subscribe("b")
	if heard(first) {
		t.Error("a change of before was heard")
	}
	doneSecond()
	b.Publish("a")
	if !heard(first) || heard(second) || heard(other) {
		t.Errorf("heard %v, %v, %v; want only who waits for it", heard(first), heard(second), heard(other))
	}
	done()
	done()
	doneOther()
	if len(b.waiting) != 0 {
		t.Errorf("%d ids are remembered though nobody waits", len(b.waiting))
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var b Broadcaster
	var all sync.WaitGroup
	for range 50 {
		news, done := b.Subscribe("a")
		all.Go(func() {
			<-news
			done()
		})
		all.Go(func() { b.Publish("a") })
	}
	all.Go(func() { b.Publish("a") })
	all.Wait()
}
