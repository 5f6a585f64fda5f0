package wire

import "encoding/json"

// MaxWait is how long a question may wait for something to answer with, in
// milliseconds. Longer waits are shortened to it.
const MaxWait = 30_000

// ChangesRequest asks for the rows of the KV mirror that changed, in the order
// in which they were written: that of their commands.
type ChangesRequest struct {
	Projection string `json:"projection,omitempty"` // one of Mirrored; "" for all
	Key        string `json:"key,omitempty"`        // one document of the projection; "" for all
	After      string `json:"after,omitempty"`      // Next of the answer before; "" begins with what is there
	New        bool   `json:"new,omitempty"`        // without After: leave out what is there now
	Since      uint64 `json:"since,omitempty"`      // commandSeq: leave out changes of commands before it
	Limit      int    `json:"limit,omitempty"`      // DefaultPage when 0, at most MaxPage
	Wait       int64  `json:"wait,omitempty"`       // milliseconds: where there is nothing, wait so long for something; at most MaxWait
}

// ChangesResponse is a page. Of each row it has the last change only. Where More
// is true there are more already, also when the page is short or empty.
type ChangesResponse struct {
	AsOf    AsOf        `json:"asOf"` // the mirror's cursor when the page was read; zero while its rows are being compared
	Changes []RowChange `json:"changes"`
	More    bool        `json:"more,omitempty"`
	// Next is what to ask for after this page. It is good until the mirror
	// begins anew, as it does when the reducer starts: then all rows come again.
	Next string `json:"next"`
}

// RowChange is a row as it is now, and the decision that changed it last; or, of
// a row that is gone because the mirror was built anew, its name only.
type RowChange struct {
	At         string          `json:"at,omitempty"`
	Block      uint64          `json:"block,omitempty"`
	Deleted    bool            `json:"deleted,omitempty"`
	Key        string          `json:"key"`
	Projection string          `json:"projection"`
	Row        json.RawMessage `json:"row,omitempty"`
	Seq        uint64          `json:"seq,omitempty"`
}
