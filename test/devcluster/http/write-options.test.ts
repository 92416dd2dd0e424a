/** Tests of the options of write requests. Clients send these options in the query or in the body. */
import type { IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Exchange } from '../../../src/devcluster/http/exchange.ts'
import type { OptionsKind } from '../../../src/devcluster/http/write-options.ts'
import { deleteOptions, integer, writeContext } from '../../../src/devcluster/http/write-options.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const user = { username: 'bob', groups: [] }
const receivedAt = 1_000_000

function exchangeOf(query = '', headers: IncomingHttpHeaders = {}): Exchange {
  const { signal } = new AbortController()
  const exchange = { method: 'POST', path: '/', query: new URLSearchParams(query), warnings: new Set<string>(), receivedAt, signal }
  return { ...exchange, request: { headers }, response: {} } as unknown as Exchange
}

t.test('a write without a query has the defaults of kube-apiserver', (t) => {
  const exchange = exchangeOf('', { 'user-agent': 'kubectl/v1.36 (linux)' })
  const { warn, signal, ...context } = writeContext(exchange, user, 'CreateOptions')
  t.strictSame(context, {
    user,
    dryRun: false,
    fieldManager: '',
    fieldValidation: 'Warn',
    userAgent: 'kubectl/v1.36 (linux)',
    deadline: receivedAt + 34_000,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  })
  t.equal(signal, exchange.signal)
  warn('a')
  warn('a')
  warn('b')
  t.strictSame([...exchange.warnings], ['a', 'b'])
  t.end()
})

t.test('the query sets the context of a write and the options that webhooks receive', (t) => {
  const contextOf = (query: string, kind: OptionsKind = 'UpdateOptions', apply = false) => {
    const { warn: _warn, signal: _signal, ...context } = writeContext(exchangeOf(query), user, kind, apply)
    return context
  }
  const all = 'dryRun=All&dryRun=All&fieldManager=me&fieldValidation=Ignore'
  t.strictSame(contextOf(all), {
    user,
    dryRun: true,
    fieldManager: 'me',
    fieldValidation: 'Ignore',
    userAgent: '',
    deadline: receivedAt + 34_000,
    options: {
      kind: 'UpdateOptions',
      apiVersion: 'meta.k8s.io/v1',
      dryRun: ['All', 'All'],
      fieldManager: 'me',
      fieldValidation: 'Ignore',
    },
  })
  const patch = { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' }
  t.strictSame(contextOf('fieldManager=me', 'PatchOptions', true).options, patch)
  t.strictSame(contextOf('fieldManager=me&force=true', 'PatchOptions', true).options, { ...patch, force: true })
  t.strictSame(contextOf('fieldManager=me&force=false', 'PatchOptions', true).options, { ...patch, force: false })
  t.strictSame(contextOf('force=true').options, { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' }, 'only a patch supports force')
  t.end()
})

t.test('a write has a deadline of 34 s, or an earlier one from the client', (t) => {
  const lasts: Record<string, number> = {
    '': 34_000,
    '1s': 1_000,
    '1.5s': 1_500,
    '250ms': 250,
    '33s': 33_000,
    '34s': 34_000,
    '35s': 34_000,
    '0.5m': 30_000,
    '1m': 34_000,
    '1h': 34_000,
    '0.001h': 3_600,
    '0s': 34_000,
    '1s500ms': 1_500,
    '-1s': 34_000,
  }
  for (const [timeout, ms] of Object.entries(lasts)) {
    const { deadline } = writeContext(exchangeOf(`timeout=${timeout}`), user, 'CreateOptions')
    t.equal(deadline! - receivedAt, ms, timeout)
  }
  t.end()
})

t.test('an invalid query is refused with every error', async (t) => {
  const problem = async (query: string, kind: OptionsKind = 'CreateOptions', apply = false): Promise<string | undefined> =>
    (await refusal(() => writeContext(exchangeOf(query), user, kind, apply))).message?.replace(`${kind}.meta.k8s.io "" is invalid: `, '')
  t.equal(await problem('dryRun=Some'), 'dryRun: Unsupported value: ["Some"]: supported values: "All"')
  t.equal(await problem('dryRun=All&dryRun=x'), 'dryRun: Unsupported value: ["All","x"]: supported values: "All"')
  t.equal(
    await problem(`fieldManager=${'ä'.repeat(65)}&fieldValidation=warn`),
    '[fieldManager: Too long: may not be more than 128 bytes, fieldValidation: Unsupported value: "warn": supported values: "", "Ignore", "Strict", "Warn"]',
  )
  t.equal(await problem('fieldManager=a%20b%0Ac'), 'fieldManager: Invalid value: "a b\\nc": invalid character U+000A (at position 3)')
  t.equal(await problem('fieldManager=%E2%80%8B'), 'fieldManager: Invalid value: "\\u200b": invalid character U+200B (at position 0)')
  t.equal(await problem('', 'PatchOptions', true), 'fieldManager: Required value: is required for apply patch')
  t.equal(await problem('force=false', 'PatchOptions'), 'force: Forbidden: may not be specified for non-apply patch')
  for (const manager of ['ä'.repeat(64), 'x'.repeat(128)])
    t.equal(writeContext(exchangeOf(`fieldManager=${manager}`), user, 'CreateOptions').fieldManager, manager)
})

const deletion = (query: string, body: JsonObject | string = '', headers: IncomingHttpHeaders = {}) =>
  deleteOptions(exchangeOf(query, headers), user, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))

t.test('DeleteOptions are read from the body, or from the query without a body', (t) => {
  const asked: [query: string, body: JsonObject | string, options: JsonObject, dryRun: boolean][] = [
    ['', '', {}, false],
    ['propagationPolicy=&gracePeriodSeconds=', '', {}, false],
    [
      'dryRun=All&propagationPolicy=Foreground&gracePeriodSeconds=5',
      '',
      { dryRun: ['All'], propagationPolicy: 'Foreground', gracePeriodSeconds: 5 },
      true,
    ],
    ['orphanDependents=false', '', { orphanDependents: false }, false],
    ['orphanDependents', '', { orphanDependents: true }, false],
    ['gracePeriodSeconds=-1', '', { gracePeriodSeconds: -1 }, false],
    ['propagationPolicy=Orphan', {}, {}, false],
    ['', { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, dryRun: [] }, { gracePeriodSeconds: 0, dryRun: [] }, false],
    ['', { kind: '', dryRun: ['All'] }, { dryRun: ['All'] }, true],
    ['', { dryRun: null, propagationPolicy: null }, { dryRun: null, propagationPolicy: null }, false],
    ['', { preconditions: { uid: 'x' }, orphanDependents: true }, { preconditions: { uid: 'x' }, orphanDependents: true }, false],
  ]
  for (const [query, body, options, dryRun] of asked) {
    const found = deletion(query, body, { 'user-agent': 'curl/8' })
    t.strictSame(found.options, options, `${query} ${JSON.stringify(body)}`)
    t.equal(found.context.dryRun, dryRun)
    t.strictSame(found.context.options, { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options })
    t.equal(found.context.userAgent, 'curl/8')
    t.equal(found.context.user, user)
  }
  t.end()
})

t.test('invalid DeleteOptions are refused', async (t) => {
  const problem = async (body: JsonObject | string, query = ''): Promise<string> => {
    const { code, message } = await refusal(() => deletion(query, body))
    return `${code} ${message}`
  }
  const unmarshal = (what: string, field: string, type: string): string =>
    `400 json: cannot unmarshal ${what} into Go struct field DeleteOptions.${field} of type ${type}`
  t.equal(await problem({ gracePeriodSeconds: 'x' }), unmarshal('string', 'gracePeriodSeconds', 'int64'))
  t.match(
    await problem({ gracePeriodSeconds: 1.5 }),
    /^400 json: cannot unmarshal number.* into Go struct field DeleteOptions.gracePeriodSeconds of type int64$/,
  )
  t.equal(await problem({ dryRun: 'All' }), unmarshal('string', 'dryRun', '[]string'))
  t.equal(await problem({ propagationPolicy: true }), unmarshal('bool', 'propagationPolicy', 'v1.DeletionPropagation'))
  t.equal(await problem({ orphanDependents: 'yes' }), unmarshal('string', 'orphanDependents', 'bool'))
  t.equal(
    await problem({ kind: 'Pod', apiVersion: 'apps/v1' }),
    '400 no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  )
  t.match(
    await problem('[]'),
    /^400 couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value of type struct/,
  )
  t.equal(await problem('{'), "400 couldn't get version/kind; json parse error: unexpected end of JSON input")
  t.equal(
    await problem({ propagationPolicy: 'Orphan', orphanDependents: false }),
    '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
  )
  t.equal(
    await problem({ propagationPolicy: 'x', dryRun: ['y'] }),
    '422 DeleteOptions.meta.k8s.io "" is invalid: [dryRun: Unsupported value: ["y"]: supported values: "All", propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"]',
  )
  t.equal(await problem('', 'gracePeriodSeconds=x'), '400 strconv.ParseInt: parsing "x": invalid syntax')
  t.match(await problem('', 'fieldValidation=x'), /^422 DeleteOptions.meta.k8s.io "" is invalid: fieldValidation: /)
})

t.test('a number in the query must be an integer', async (t) => {
  t.strictSame(['0', '12', '-3', '+4'].map(integer), [0, 12, -3, 4])
  for (const text of ['', 'x', '1.5', '1e3', ' 1', '0x1'])
    t.match(await refusal(() => integer(text)), { code: 400, message: `strconv.ParseInt: parsing "${text}": invalid syntax` })
})
