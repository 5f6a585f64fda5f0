package main

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/auth"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// secrets makes a key, or a password, for each user and a key for the reducer.
// The public halves go into the configuration, the others into files.
func (in *initializing) secrets(config *auth.Config) ([]auth.File, error) {
	public, seed, err := auth.NewKey()
	if err != nil {
		return nil, err
	}
	config.Reducer = public
	files := []auth.File{{Name: "reducer.nk", Data: append(seed, '\n')}}
	for i := range config.Users {
		u := &config.Users[i]
		file := auth.File{Name: schema.KVToken(u.Name) + ".nk"} // a name for any id: a long one is hashed
		var secret []byte
		if in.passwords {
			file.Name = schema.KVToken(u.Name) + ".password"
			u.Hash, secret, err = auth.NewPassword()
		} else {
			u.Public, secret, err = auth.NewKey()
		}
		if err != nil {
			return nil, err
		}
		file.Data = append(secret, '\n')
		files = append(files, file)
	}
	return files, nil
}

// readable asks the server's own parser whether it takes a configuration.
func readable(config string) error {
	if err := (&server.Options{}).ProcessConfigString(config); err != nil {
		return fmt.Errorf("a NATS server would not take the configuration, so nothing was written: %w", err)
	}
	return nil
}
