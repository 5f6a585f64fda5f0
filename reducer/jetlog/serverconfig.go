package jetlog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// serverOptions makes the server's options from ours and a configuration file,
// and how this process logs in.
func serverOptions(o ServerOptions) (*server.Options, nats.Option, error) {
	options := &server.Options{}
	if o.ConfigFile != "" {
		var err error
		if options, err = server.ProcessConfigFile(o.ConfigFile); err != nil {
			return nil, nil, fmt.Errorf("NATS configuration %s: %w", o.ConfigFile, err)
		}
	}
	for _, step := range []func(*server.Options, ServerOptions) error{listenOn, refuseOtherListeners, storeIn, checkExposure} {
		if err := step(options, o); err != nil {
			return nil, nil, err
		}
	}
	user, err := addOurselves(options, o.Account)
	return options, user, err
}

func listenOn(options *server.Options, o ServerOptions) error {
	if o.Listen != "" {
		host, port, err := net.SplitHostPort(o.Listen)
		if err != nil {
			return fmt.Errorf("listen address %q: want host:port", o.Listen)
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("listen address %q: %q is no port", o.Listen, port)
		}
		options.Host, options.Port = host, int(number)
		if number == 0 {
			options.Port = server.RANDOM_PORT
		}
	}
	if options.Host == "" {
		options.Host = "127.0.0.1"
	}
	if options.Port == 0 {
		options.Port = server.DEFAULT_PORT
	}
	options.DontListen = true
	return nil
}

// refuseOtherListeners: they would open before the inbox is purged.
func refuseOtherListeners(options *server.Options, o ServerOptions) error {
	for _, other := range []struct {
		name  string
		there bool
	}{
		{"cluster", options.Cluster.Port != 0},
		{"gateway", options.Gateway.Port != 0},
		{"leafnodes", options.LeafNode.Port != 0 || len(options.LeafNode.Remotes) > 0},
		{"mqtt", options.MQTT.Port != 0},
		{"websocket", options.Websocket.Port != 0},
	} {
		if other.there {
			return fmt.Errorf("%w: %s has %q: the embedded server takes client connections only; run a NATS server of your own and use --nats",
				loop.ErrConfig, o.ConfigFile, other.name)
		}
	}
	return nil
}

func storeIn(options *server.Options, o ServerOptions) error {
	if options.StoreDir != "" && options.StoreDir != o.Dir.Path() {
		return fmt.Errorf("%w: %s sets a store directory; the streams are in the data directory, %s", loop.ErrConfig, o.ConfigFile, o.Dir.JetStream())
	}
	if options.MaxPayload == 0 {
		options.MaxPayload = serverPayload
	}
	if options.JetStreamMaxStore <= 0 {
		options.JetStreamMaxStore = manyBytes
	}
	options.JetStream = true
	options.StoreDir = o.Dir.Path() // the server adds jetstream/
	options.SyncAlways = o.Sync != SyncInterval
	options.NoSigs = true
	options.DisableJetStreamBanner = true
	return nil
}

// checkExposure refuses to listen to strangers without authentication and TLS,
// and to show them the server's monitoring and profiling, which have neither.
func checkExposure(options *server.Options, o ServerOptions) error {
	if o.Insecure {
		return nil
	}
	if monitored := cmp.Or(options.HTTPHost, options.Host); (options.HTTPPort != 0 || options.HTTPSPort != 0) && !isLoopback(monitored) {
		return fmt.Errorf("%w: %s shows the server's monitoring on %s to whoever gets there; give it a loopback address, as in http: \"127.0.0.1:8222\"",
			loop.ErrConfig, o.ConfigFile, monitored)
	}
	if options.ProfPort != 0 && !isLoopback(options.Host) {
		return fmt.Errorf("%w: %s has prof_port, which is open to whoever reaches %s; leave it out", loop.ErrConfig, o.ConfigFile, options.Host)
	}
	if isLoopback(options.Host) {
		return nil
	}
	authenticated := len(options.Users) > 0 || len(options.Nkeys) > 0 || options.Username != "" || options.Authorization != "" ||
		len(options.TrustedOperators) > 0 || options.AuthCallout != nil || options.TLSVerify
	if authenticated && options.TLSConfig != nil && options.NoAuthUser == "" {
		return nil
	}
	return fmt.Errorf("listening on %s needs authentication and TLS in a NATS configuration (see reducer init), or the flag that allows to go without: "+
		"whoever reaches the server may send any command in anybody's name", net.JoinHostPort(options.Host, strconv.Itoa(max(options.Port, 0))))
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// addOurselves makes this process a user of its own server: an nkey made now,
// good for connections in memory only. Where users are not the configuration's
// to add, the caller must bring credentials.
func addOurselves(options *server.Options, account string) (nats.Option, error) {
	switch {
	case len(options.TrustedOperators) > 0 || options.AuthCallout != nil || options.CustomClientAuthentication != nil:
		return nil, nil
	case options.Authorization != "":
		if strings.HasPrefix(options.Authorization, "$2") {
			return nil, errors.New("NATS configuration: the authorization token is stored as a hash; use users instead")
		}
		return nats.Token(options.Authorization), nil
	case options.Username != "":
		options.Users = append(options.Users, &server.User{Username: options.Username, Password: options.Password})
		options.Username, options.Password = "", ""
	case len(options.Users) == 0 && len(options.Nkeys) == 0:
		return nil, nil
	}
	home, err := findAccount(options, account)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make an nkey: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("make an nkey: %w", err)
	}
	options.Nkeys = append(options.Nkeys, &server.NkeyUser{
		Nkey: public, Account: home, AllowedConnectionTypes: map[string]struct{}{jwt.ConnectionTypeInProcess: {}},
	})
	return nats.Nkey(public, pair.Sign), nil
}

// findAccount is the account that the streams are in; nil is the server's own.
func findAccount(options *server.Options, name string) (*server.Account, error) {
	accounts := map[string]*server.Account{}
	for _, a := range options.Accounts {
		if a.Name != options.SystemAccount {
			accounts[a.Name] = a
		}
	}
	switch {
	case name == "" && len(accounts) == 0:
		return nil, nil
	case name == "" && len(accounts) == 1:
		for _, a := range accounts {
			return a, nil
		}
	case accounts[name] != nil:
		return accounts[name], nil
	}
	return nil, fmt.Errorf("%w: say which account of the NATS configuration the streams are in; it has %s",
		loop.ErrConfig, strings.Join(slices.Sorted(maps.Keys(accounts)), ", "))
}
