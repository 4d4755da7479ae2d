package tool

import (
	"encoding/json"

	"ace/internal/platform/tool/output"
)

// CutAt cuts an output at a position as a cursor holds it.
func CutAt(whole []byte, text string) (*output.Part, error) {
	var at output.Position
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return nil, err
	}
	at.Max, at.Offset = min(max(at.Max, 1), output.MaxPart), max(at.Offset, 0)
	return output.Cut(whole, at)
}
