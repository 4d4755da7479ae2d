package tool

import "encoding/json"

// CutAt cuts an output at a position as a cursor holds it.
func CutAt(output []byte, text string) (*Part, error) {
	var at position
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return nil, err
	}
	at.Max, at.Offset = min(max(at.Max, 1), MaxPart), max(at.Offset, 0)
	return cut(output, at)
}
