package app

// NewItem is the event that every app with tools has: something is in a list that
// was not there before. Its Config names the tool that reads the list.
const NewItem = "new_item"

// newItemSchema is what NewItem needs to know.
const newItemSchema = `{
	"type": "object", "additionalProperties": false, "required": ["tool"],
	"properties": {
		"tool": {"type": "string", "maxLength": 200, "description": "Id of a tool that only reads."},
		"arguments": {"type": "object", "description": "Arguments of the tool."},
		"items": {"type": "string", "pattern": "^/", "maxLength": 200,
			"description": "JSON Pointer to the list in its output; / is all of it. Default: the only list."},
		"id": {"type": "string", "pattern": "^/.", "maxLength": 200, "default": "/id",
			"description": "JSON Pointer into an item to what identifies it."},
		"version": {"type": "string", "pattern": "^/.", "maxLength": 200,
			"description": "JSON Pointer into an item to what changes with it. Default: an item is one event."}
	}
}`

// NewItem returns the event NewItem of the app; nil where it has no tools.
func (a *App) NewItem() *Trigger {
	if a.ToolCount() == 0 {
		return nil
	}
	return &Trigger{
		ID:          a.ID + "." + NewItem,
		App:         a.ID,
		Name:        NewItem,
		Title:       "New item in a list",
		About:       "A list that a tool reads has an item that was not there before, within minutes.",
		Poll:        &Poll{},
		Sample:      map[string]any{"id": "item_abc"},
		InputSchema: []byte(newItemSchema),
		Generic:     true,
	}
}

// ItemsOf returns the event with the poll that a config of NewItem describes.
func (t *Trigger) ItemsOf(config map[string]any) *Trigger {
	text := func(name string) string { s, _ := config[name].(string); return s }
	made := *t
	made.Poll = &Poll{
		Tool: text("tool"), Items: text("items"), ID: text("id"), Version: text("version"),
	}
	made.Poll.Arguments, _ = config["arguments"].(map[string]any)
	return &made
}
