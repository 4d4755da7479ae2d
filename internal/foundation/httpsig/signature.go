package httpsig

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// The fields of signatures.
const (
	HeaderSignature      = "Signature"
	HeaderSignatureInput = "Signature-Input"
)

// Limits of what is parsed.
const (
	MaxHeader     = 8 << 10 // bytes of both fields together
	MaxLabels     = 4       // signatures on a message
	MaxComponents = 32      // components of a signature
)

// What goes wrong with signatures. The errors of this package wrap one of them.
var (
	ErrMalformed = errors.New("malformed signature fields")
	ErrComponent = errors.New("component that cannot be signed")
	ErrAlgorithm = errors.New("unsupported signature algorithm")
	ErrInvalid   = errors.New("signature does not verify")
	ErrTime      = errors.New("signature outside its time")
	ErrDigest    = errors.New("content digest does not match")
)

// Component names a part of a message.
type Component struct {
	Name string // lower case: a field, or a derived component that begins with @
	Key  string // the member of a dictionary field; "" for the whole field
	Req  bool   // of the request that a response answers

	foreign string // the identifier of a component that is not supported here
}

// Field returns the component of a field or, with @, of a derived one.
func Field(name string) Component { return Component{Name: strings.ToLower(name)} }

func (c Component) item() httpsfv.Item {
	item := httpsfv.NewItem(c.Name)
	if c.Req {
		item.Params.Add("req", true)
	}
	if c.Key != "" {
		item.Params.Add("key", c.Key)
	}
	return item
}

// Params are the parameters of a signature; the zero values mean absent.
type Params struct {
	Created time.Time
	Expires time.Time
	KeyID   string
	Alg     string
	Nonce   string
	Tag     string
}

// Signature is one labelled signature of a message.
type Signature struct {
	Label      string
	Components []Component
	Params     Params
	Value      []byte

	list httpsfv.InnerList // as it was sent: the order of parameters counts
}

// Parse reads the signatures of a message, sorted as they were sent; none is
// nil. The error wraps ErrMalformed: fields that do not parse or belong
// together, a label used twice, a component covered twice, too much of
// anything.
func Parse(h http.Header) ([]Signature, error) {
	inputs, values := h.Values(HeaderSignatureInput), h.Values(HeaderSignature)
	if len(inputs) == 0 && len(values) == 0 {
		return nil, nil
	}
	input, err := dictionary(inputs, len(strings.Join(values, "")))
	if err != nil {
		return nil, err
	}
	value, err := dictionary(values, len(strings.Join(inputs, "")))
	if err != nil {
		return nil, err
	}
	labels := input.Names()
	if len(labels) != len(value.Names()) || len(labels) > MaxLabels {
		return nil, fmt.Errorf("%w: %d inputs and %d signatures", ErrMalformed, len(labels), len(value.Names()))
	}
	signatures := make([]Signature, 0, len(labels))
	for _, label := range labels {
		member, _ := input.Get(label)
		bytes, _ := value.Get(label)
		s, err := parseOne(label, member, bytes)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, s)
	}
	return signatures, nil
}

// dictionary parses a field in which no member may be named twice: of two with
// one name the parser keeps the last, and another verifier may keep the first.
func dictionary(lines []string, other int) (*httpsfv.Dictionary, error) {
	text := strings.Join(lines, ", ")
	if len(text)+other > MaxHeader {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrMalformed, MaxHeader)
	}
	d, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, fmt.Errorf("%w: not a dictionary", ErrMalformed)
	}
	if len(d.Names()) == 0 || len(d.Names()) != topLevelMembers(text) {
		return nil, fmt.Errorf("%w: empty, or a member is named twice", ErrMalformed)
	}
	return d, nil
}

// topLevelMembers counts the members of a dictionary that parses.
func topLevelMembers(text string) int {
	count, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			count++
		}
	}
	return count
}

func parseOne(label string, input, value httpsfv.Member) (Signature, error) {
	list, ok := input.(httpsfv.InnerList)
	if !ok || len(list.Items) > MaxComponents {
		return Signature{}, fmt.Errorf("%w: the input %q is not a list of up to %d components", ErrMalformed, label,
			MaxComponents)
	}
	item, ok := value.(httpsfv.Item)
	if !ok {
		return Signature{}, fmt.Errorf("%w: no signature is named %q", ErrMalformed, label)
	}
	s := Signature{Label: label, list: list}
	if s.Value, ok = item.Value.([]byte); !ok {
		return Signature{}, fmt.Errorf("%w: the signature %q is not a byte sequence", ErrMalformed, label)
	}
	seen := map[Component]bool{}
	for _, item := range list.Items {
		c, err := parseComponent(item)
		if err != nil {
			return Signature{}, err
		}
		if seen[c] {
			return Signature{}, fmt.Errorf("%w: %q is covered twice", ErrMalformed, c.Name)
		}
		seen[c] = true
		s.Components = append(s.Components, c)
	}
	var err error
	s.Params, err = parseParams(list.Params)
	return s, err
}

func parseComponent(item httpsfv.Item) (Component, error) {
	name, ok := item.Value.(string)
	if !ok || name == "" || name != strings.ToLower(name) || name == "@signature-params" {
		return Component{}, fmt.Errorf("%w: a component is not named in lower case", ErrMalformed)
	}
	c := Component{Name: name}
	for _, param := range item.Params.Names() {
		value, _ := item.Params.Get(param)
		key, _ := value.(string)
		switch {
		case param == "key" && key != "" && !strings.HasPrefix(name, "@"):
			c.Key = key
		case param == "req" && value == true:
			c.Req = true
		default: // well-formed, but a signature that covers it cannot be verified
			identifier, err := httpsfv.Marshal(item)
			if err != nil {
				return Component{}, fmt.Errorf("%w: the parameter %q cannot be written", ErrMalformed, param)
			}
			return Component{Name: name, foreign: identifier}, nil
		}
	}
	return c, nil
}

func parseParams(params *httpsfv.Params) (p Params, err error) {
	moments := map[string]*time.Time{"created": &p.Created, "expires": &p.Expires}
	texts := map[string]*string{"keyid": &p.KeyID, "alg": &p.Alg, "nonce": &p.Nonce, "tag": &p.Tag}
	for _, name := range params.Names() {
		value, _ := params.Get(name)
		number, isNumber := value.(int64)
		text, isText := value.(string)
		switch {
		case moments[name] != nil && isNumber && number > 0:
			*moments[name] = time.Unix(number, 0)
		case texts[name] != nil && isText:
			*texts[name] = text
		case moments[name] != nil || texts[name] != nil:
			return Params{}, fmt.Errorf("%w: the parameter %q has the wrong type", ErrMalformed, name)
		}
	}
	return p, nil
}

// Covers reports whether the signature covers all of the components.
func (s *Signature) Covers(components ...Component) bool {
	for _, c := range components {
		found := false
		for _, have := range s.Components {
			found = found || have == c
		}
		if !found {
			return false
		}
	}
	return true
}

// Base returns the text that is signed (RFC 9421 section 2.5). The error wraps
// ErrComponent.
func (s *Signature) Base(m *Message) (string, error) {
	var b strings.Builder
	for i, c := range s.Components {
		name, err := httpsfv.Marshal(s.list.Items[i])
		if err != nil {
			return "", fmt.Errorf("%w: %q", ErrComponent, c.Name)
		}
		value, err := m.value(c)
		if err != nil {
			return "", err
		}
		b.WriteString(name + ": " + value + "\n")
	}
	params, err := httpsfv.Marshal(s.list)
	if err != nil {
		return "", fmt.Errorf("%w: parameters", ErrComponent)
	}
	b.WriteString(`"@signature-params": ` + params)
	return b.String(), nil
}

// TimeRule says when a signature counts.
type TimeRule struct {
	Skew          time.Duration // by how much clocks may differ
	MaxAge        time.Duration // since created, where there is no expires; 0: any
	MaxWindow     time.Duration // between created and expires; 0: any
	NeedsCreated  bool
	NeedsExpiring bool
}

// CheckTime checks created and expires against the clock. The error wraps
// ErrTime.
func (s *Signature) CheckTime(now time.Time, rule TimeRule) error {
	created, expires := s.Params.Created, s.Params.Expires
	switch {
	case created.IsZero() && rule.NeedsCreated:
		return fmt.Errorf("%w: created is missing", ErrTime)
	case expires.IsZero() && rule.NeedsExpiring:
		return fmt.Errorf("%w: expires is missing", ErrTime)
	case created.After(now.Add(rule.Skew)):
		return fmt.Errorf("%w: created in the future", ErrTime)
	case !expires.IsZero() && !expires.After(now.Add(-rule.Skew)):
		return fmt.Errorf("%w: expired", ErrTime)
	case !expires.IsZero() && !expires.After(created):
		return fmt.Errorf("%w: expires before it was created", ErrTime)
	case rule.MaxWindow > 0 && !created.IsZero() && !expires.IsZero() && expires.Sub(created) > rule.MaxWindow:
		return fmt.Errorf("%w: it is meant to last too long", ErrTime)
	case rule.MaxAge > 0 && expires.IsZero() && !created.IsZero() && created.Before(now.Add(-rule.MaxAge-rule.Skew)):
		return fmt.Errorf("%w: too old", ErrTime)
	}
	return nil
}
