import { type Difference, unrecorded } from './difference.ts'

/** Rows about keys, tokens, clients, policies and what programs read of them; `sessions.json` names them where a recorded one differs. */
export const SESSION_DIFFERENCES: readonly Difference[] = [
  {
    name: 'Rights of several policies',
    there:
      'a policy without a list of paths beside one with a list is narrowed to it, and a policy with `per_api` replaces versions and paths that policies before it gave',
    here: 'versions and paths add up whatever their order, and no list beats any list',
    why: 'a further policy never takes away what another gives',
    serves: true,
    ...unrecorded('test/incumbent/sessions.test.ts'),
  },
  {
    name: 'Limits of several policies',
    there:
      'the larger quota and the longer renewal are taken apart; an API whose policy states no limit has the highest of the others; each policy with rights has counters of its own, also where two APIs have one limit',
    here: 'quota and renewal are taken as a pair, limits of a policy hold for its APIs, and APIs that have the limit of one policy share its counter',
    why: "a quota that no policy states is nobody's intention",
    serves: true,
    ...unrecorded('test/incumbent/sessions.test.ts'),
  },
  {
    name: 'Keys with rights of their own whose policies give none',
    there: 'cannot be made (500), and are refused (403) where they exist',
    here: 'have their own rights, with the limits that the policies control',
    why: 'a policy whose `partitions` leave out `acl` says that the key brings the rights',
    serves: true,
    ...unrecorded('test/incumbent/sessions.test.ts'),
  },
  {
    name: 'Requests over a limit',
    there: 'are counted too, so that a raised quota can be used up at once, and a caller who goes on stays over a rate',
    here: 'are not counted',
    why: 'what was refused was not used',
    serves: true,
    ...unrecorded('test/incumbent/used-keys.test.ts'),
  },
  {
    name: 'Keys saved while a policy of theirs is inactive',
    there: 'stay refused once the policy is active again',
    here: 'follow the policy',
    why: 'the switch is the one of the policy; imported keys that carry it stay inactive',
    serves: true,
    ...unrecorded('test/incumbent/used-keys.test.ts'),
  },
  {
    name: 'Tags of keys with policies',
    there: 'those of policies and key',
    here: 'those of the policies; those of the key where the policies have none',
    why: 'analytics by tag count a plan, not what was left on a key',
    ...unrecorded('test/model/policies/merge.test.ts'),
  },
  {
    name: 'Keys and policies refused at save',
    there:
      'taken, and of no use: methods in lower case match nothing, `per_api` beside another partition makes the keys unusable, a key that has expired or has neither rights nor policies opens nothing or everything',
    here: 'refused (400) with the place',
    why: 'nobody learns at the first call what a save could say',
    ...unrecorded('test/model/sessions/session-check.test.ts'),
  },
  {
    name: 'Rights on an API that is added later, where paths match by prefix',
    there: 'match below the listen path of the API',
    here: 'are written out at the save, with a warning to send them again once the API is there',
    why: 'paths of rights are expressions over the whole path',
    ...unrecorded('test/gateway/admin/sent-rights.test.ts'),
  },
  {
    name: 'Secrets in lists of OAuth clients of the dashboard',
    there: 'are shown',
    here: 'are blank; reading one client, and lists of the gateway, show them',
    why: 'users who list clients seldom need all of their secrets',
    ...unrecorded('test/dashboard/oauth-clients/oauth-clients.test.ts'),
  },
  {
    name: 'Tokens with `key_rules`, and of users',
    there:
      'have these rights alone, whatever the policy of the client says; `key_rules` that cannot be read count for nothing',
    here: 'are narrowed to the policy of the client; `key_rules` that cannot be read are refused (400)',
    why: 'a client must not give more than it was given',
    ...unrecorded('test/incumbent/oauth-choices.test.ts'),
  },
  {
    name: 'The implicit grant',
    there: 'gives tokens in the fragment of a URL',
    here: 'is not served; the save warns of it',
    why: 'RFC 9700 section 2.1.2: use codes with PKCE',
    ...unrecorded('test/incumbent/oauth-choices.test.ts'),
  },
  {
    name: 'Codes that come twice',
    there: 'are refused the second time',
    here: 'are refused the second time, and the tokens of the first end',
    why: 'RFC 6749 section 4.1.2: one of the two callers has stolen it',
    ...unrecorded('test/incumbent/oauth-choices.test.ts'),
  },
  {
    name: 'Secrets of clients in the body of a token request',
    there: 'are not read (403)',
    here: 'are taken, as an alternative to Basic',
    why: 'RFC 6749 section 2.3.1',
    serves: true,
    ...unrecorded('test/incumbent/oauth-choices.test.ts'),
  },
  {
    name: 'Texts of errors',
    there:
      'tell the cause in words of the libraries that found it, where a JSON Web Token, a signature, a body or an expired version is refused',
    here: 'one text for each kind of error, with the places of all faults of a body; other refusals say the same as there',
    why: 'programs should judge the status; `compat.legacy_statuses` has the older ones',
    ...unrecorded('test/incumbent/error-texts.deep.test.ts'),
  },
  {
    name: 'APIs of several organisations at one host',
    there: 'share it, the longest listen path first',
    here: 'an API without a domain is refused (409) where another organisation has `/` at a host that nobody can own; at a domain both are served',
    why: 'requests of one organisation must not reach the API of another',
    ...unrecorded('test/dashboard/apis/territories.test.ts'),
  },
]
