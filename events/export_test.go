package events

// ParseAny is [ParseDecision] by way of the reader of any JSON, for a comparison.
var ParseAny = parseAny
