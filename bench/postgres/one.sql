\set ledger random(1, 1000)
\set n random(1, 9000000000000000000)
SELECT admit('ledger-' || :ledger, 'agent', 'c' || :n || '-a', 'run-' || :client_id, 'o' || :n, 'o' || :n || '1', 'team', 'agent', NULL,
  ('{"capability":"purchase","payload":{"basket":[{"count":4,"item":"desk","unitPrice":"30"},{"count":2,"item":"lamp","unitPrice":"17"}],"deliverTo":{"city":"Utrecht","street":"Oudegracht 1","zip":"3511"},"note":"@NOTE@","operation":"' || :n || '"},"preconditions":{"stock":"known"},"resource":"shop"}')::jsonb,
  120, 1700000000000, 'ALLOW', true, '@ADMIT@' || :n);
SELECT dispatch('ledger-' || :ledger, 'agent', 'c' || :n || '-d', 'o' || :n || '1', 1700000000000, 'ALLOW', true, '@DISPATCH@' || :n);
SELECT settle('ledger-' || :ledger, 'shop-adapter', 'c' || :n || '-s', 'o' || :n || '1', 'CONFIRMED_APPLIED', 120, '@SETTLE@' || :n);
