package answer

import (
	"strconv"
	"strings"
)

// Preferred returns which of the offered media types an Accept header asks for
// most (RFC 9110, 12.5.1). The first offered one is the default: it wins ties,
// and a header that is absent. ok is false if none is acceptable.
func Preferred(accept string, offered ...string) (mediaType string, ok bool) {
	if strings.TrimSpace(accept) == "" {
		return offered[0], true
	}
	best := 0.0
	for _, candidate := range offered {
		if q := Quality(accept, candidate); q > best {
			best, mediaType, ok = q, candidate, true
		}
	}
	return mediaType, ok
}

// Quality is the weight that the most specific range of accept gives a type.
func Quality(accept, mediaType string) float64 {
	kind, _, _ := strings.Cut(mediaType, "/")
	q, specificity := 0.0, -1
	for part := range strings.SplitSeq(accept, ",") {
		fields := strings.Split(part, ";")
		rank := -1
		switch name := strings.ToLower(strings.TrimSpace(fields[0])); name {
		case mediaType:
			rank = 2
		case kind + "/*":
			rank = 1
		case "*/*":
			rank = 0
		}
		if rank > specificity {
			q, specificity = weight(fields[1:]), rank
		}
	}
	return q
}

func weight(params []string) float64 {
	for _, p := range params {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || q < 0 || q > 1 {
			return 0
		}
		return q
	}
	return 1
}
