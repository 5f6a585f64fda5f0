package events // want doc

import (
	_ "github.com/aiws-reducer/aiws-reducer/reducer/state" // want import
	_ "sort"                                               // want import
)
