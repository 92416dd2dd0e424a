import t from 'tap'
import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  longName,
  pathSegmentName,
  qualifiedName,
  shortName,
} from '../../src/api/name-syntax.ts'
import { forbidden, invalid, required, tooLong } from '../../src/api/field-error.ts'
import { maxAnnotationBytes, unqualifiedFinalizers, validateObjectMeta } from '../../src/api/object-meta.ts'
import { processorTimeMs } from '../support/turns.ts'

t.test('valid names are accepted', async (t) => {
  for (const name of ['a', 'a-1', '1a', 'a'.repeat(63)]) t.strictSame(dns1123Label(name), [], name)
  for (const name of ['a.b', 'a-b.c-d', 'a'.repeat(253)]) t.strictSame(dns1123Subdomain(name), [], name)
  for (const key of ['a', 'A_b.c', 'example.com/Name', 'a'.repeat(63)]) t.strictSame(qualifiedName(key), [], key)
  for (const value of ['', 'a', 'A_b.c-1']) t.strictSame(labelValue(value), [], value)
})

t.test('invalid names have the error messages of Kubernetes', async (t) => {
  t.strictSame(dns1123Label('A_B'), [
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ])
  t.strictSame(dns1123Label('a'.repeat(64)), ['must be no more than 63 bytes'])
  t.match(dns1123Subdomain('a..b')[0], /^a lowercase RFC 1123 subdomain must consist of/)
  t.match(dns1035Label('1a')[0], /^a DNS-1035 label must consist of/)
  t.match(
    qualifiedName('a/b/c')[0],
    /^a valid label key must consist of .* with an optional DNS subdomain prefix and '\/' \(e\.g\. 'example\.com\/MyName'\)$/,
  )
  t.strictSame(qualifiedName('/b'), ['prefix part must be non-empty'])
  t.match(qualifiedName('-bad')[0], /^name part must consist of/)
  t.match(labelValue('a b')[0], /^a valid label must be an empty string or consist of/)
})

t.test('the maximum length of each kind of name is exact', async (t) => {
  const cases: readonly (readonly [(name: string) => string[], (length: number) => string, number, string])[] = [
    [dns1123Label, (length) => 'a'.repeat(length), 63, 'must be no more than 63 bytes'],
    [dns1035Label, (length) => 'a'.repeat(length), 63, 'must be no more than 63 characters'],
    [dns1123Subdomain, (length) => 'a'.repeat(length), 253, 'must be no more than 253 bytes'],
    [labelValue, (length) => 'a'.repeat(length), 63, 'must be no more than 63 bytes'],
    [labelValue, (length) => `A${'_'.repeat(length - 2)}1`, 63, 'must be no more than 63 bytes'],
    [qualifiedName, (length) => 'a'.repeat(length), 63, 'name part must be no more than 63 bytes'],
    [qualifiedName, (length) => `example.com/${'a'.repeat(length)}`, 63, 'name part must be no more than 63 bytes'],
    [qualifiedName, (length) => `${'a'.repeat(length)}/a`, 253, 'prefix part must be no more than 253 bytes'],
  ]
  for (const [check, named, most, problem] of cases) {
    t.strictSame(check(named(most)), [], `${check.name} of ${most}`)
    t.strictSame(check(named(most + 1)), [problem], `${check.name} of ${most + 1}`)
  }
  // The limits are in bytes of UTF-8. `é` has two bytes.
  for (const [check, most] of [
    [dns1123Label, 63],
    [dns1035Label, 63],
    [dns1123Subdomain, 253],
    [labelValue, 63],
    [qualifiedName, 63],
  ] as const) {
    const isTooLong = (name: string): boolean => check(name).some((message) => message.includes(`must be no more than ${most}`))
    const name = `a${'é'.repeat((most - 1) / 2)}`
    t.strictSame([isTooLong(name), isTooLong(`${name}a`)], [false, true], check.name)
  }
})

t.test('a long run of invalid characters is refused quickly', async (t) => {
  const started = processorTimeMs()
  t.ok(dns1123Subdomain(`${'a-'.repeat(200_000)}!`).length > 0)
  t.ok(labelValue(`${'a.'.repeat(200_000)}!`).length > 0)
  t.ok(processorTimeMs() - started < 1000)
})

t.test('metadata of a new object is validated', async (t) => {
  const rules = { namespaced: true }
  const paths = (metadata: unknown): string[] => validateObjectMeta(metadata, rules).map(({ path, reason }) => `${path} ${reason}`)
  t.strictSame(paths({ name: 'a', namespace: 'b', labels: { a: 'b' } }), [])
  t.strictSame(paths({ generateName: 'a-', namespace: 'b' }), [])
  t.strictSame(paths({ namespace: 'b' }), ['metadata.name FieldValueRequired'])
  t.strictSame(paths({ name: 'A', namespace: 'b' }), ['metadata.name FieldValueInvalid'])
  t.strictSame(paths({ name: 'a', namespace: 'b', labels: { 'a b': 'c d' } }), [
    'metadata.labels FieldValueInvalid',
    'metadata.labels FieldValueInvalid',
  ])
  t.strictSame(paths({ name: 'a', namespace: 'b', annotations: { a: 'x'.repeat(maxAnnotationBytes) } }), [
    'metadata.annotations FieldValueTooLong',
  ])
  const wrong = Array.from({ length: 300 }, (_, index) => [`a b ${index}`, 'x'.repeat(1000)])
  t.equal(paths({ name: 'a', namespace: 'b', annotations: Object.fromEntries(wrong) }).at(-1), 'metadata.annotations FieldValueTooLong')
  t.strictSame(paths({ name: 'a', namespace: 'b', finalizers: ['a/b/c'] }), ['metadata.finalizers FieldValueInvalid'])
  t.strictSame(
    validateObjectMeta({ name: 'a', namespace: 'b' }, { namespaced: false }).map(({ message }) => message),
    ['Forbidden: not allowed on this type'],
  )
})

const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const characters =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

t.test('each rule has the message of Kubernetes', async (t) => {
  for (const bad of ['', '-a', 'a-', 'A', 'a_b', 'a..b', 'a.-b']) t.strictSame(dns1123Subdomain(bad), [subdomainMessage], bad)
  for (const bad of ['', '-a', 'a-', 'A', 'a.b']) t.strictSame(dns1123Label(bad), [labelMessage], bad)
  for (const bad of ['', '1a', '-a', 'a-', 'A', 'a.b'])
    t.strictSame(
      dns1035Label(bad),
      [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
      bad,
    )
  for (const bad of ['-a', 'a-', '_', 'a b', 'ü'])
    t.strictSame(
      labelValue(bad),
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
      bad,
    )
  for (const good of ['a', 'a1', 'a-1']) t.strictSame(dns1035Label(good), [], good)
})

t.test('a qualified name has a name, and perhaps a prefix', async (t) => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['a_b.C-1', []],
    ['example.com/a_b', []],
    ['', ['name part must be non-empty', `name part ${characters}`]],
    ['a/', ['name part must be non-empty', `name part ${characters}`]],
    ['/a', ['prefix part must be non-empty']],
    ['A/a', [`prefix part ${subdomainMessage}`]],
    ['A/-', [`prefix part ${subdomainMessage}`, `name part ${characters}`]],
    ['a b', [`name part ${characters}`]],
    [`${'-'.repeat(64)}`, ['name part must be no more than 63 bytes', `name part ${characters}`]],
    ['a/b/c', [`a valid label key ${characters} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]],
  ]
  for (const [name, problems] of cases) t.strictSame(qualifiedName(name), problems, name)
})

t.test('names of objects count in characters, and short names must not contain dots', async (t) => {
  t.strictSame(longName('a'.repeat(254)), ['must be no more than 253 characters'])
  t.strictSame(longName('A'), [subdomainMessage])
  t.strictSame(longName('a.b'), [])
  t.strictSame(shortName('a'.repeat(64)), ['must be no more than 63 characters'])
  t.strictSame(shortName('a.b'), ['must not contain dots'])
  t.strictSame(shortName(`a.${'b'.repeat(63)}`), ['must be no more than 63 characters', 'must not contain dots'])
  for (const bad of ['A.b', 'a..b', 'a.-b', 'a-.b', '.a', 'a.']) t.strictSame(shortName(bad), [labelMessage], bad)
  t.strictSame(shortName('a'), [])
})

t.test('path segment names are validated', async (t) => {
  t.strictSame(pathSegmentName('.'), ["may not be '.'"])
  t.strictSame(pathSegmentName('..'), ["may not be '..'"])
  t.strictSame(pathSegmentName('a/b%c'), ["may not contain '/'", "may not contain '%'"])
  t.strictSame(pathSegmentName('...:A b'), [])
})

t.test('each mistake of metadata has its path and message', async (t) => {
  const namespaced = { namespaced: true }
  const all = { name: 'a', namespace: 'b' }
  const key = (path: string, value: string) => invalid(path, value, `name part ${characters}`)
  t.strictSame(validateObjectMeta(undefined, namespaced), [required('metadata')])
  t.strictSame(validateObjectMeta([], namespaced, 'spec.template.metadata'), [required('spec.template.metadata')])
  t.strictSame(validateObjectMeta({}, namespaced, 'm'), [required('m.name', 'name or generateName is required'), required('m.namespace')])
  t.strictSame(validateObjectMeta({ name: 'A', namespace: 'B.' }, namespaced), [
    invalid('metadata.name', 'A', subdomainMessage),
    invalid('metadata.namespace', 'B.', labelMessage),
  ])
  t.strictSame(validateObjectMeta({ name: 'a', namespace: 'a.b' }, namespaced), [
    invalid('metadata.namespace', 'a.b', 'must not contain dots'),
  ])
  t.strictSame(validateObjectMeta({ name: 'a', namespace: 'b'.repeat(64) }, namespaced), [
    invalid('metadata.namespace', 'b'.repeat(64), 'must be no more than 63 characters'),
  ])
  t.strictSame(validateObjectMeta({ ...all, generateName: 'A-' }, namespaced), [], 'like the API server')
  t.strictSame(validateObjectMeta({ ...all, generateName: 'AB-' }, namespaced), [invalid('metadata.generateName', 'AB-', subdomainMessage)])
  t.strictSame(validateObjectMeta({ ...all, generateName: '-' }, namespaced), [invalid('metadata.generateName', '-', subdomainMessage)])
  t.strictSame(validateObjectMeta({ namespace: 'b', generateName: 'a.b-' }, namespaced), [])
  t.strictSame(validateObjectMeta({ ...all, name: 'odd:NAME' }, { namespaced: true, name: () => ['is odd'] }), [
    invalid('metadata.name', 'odd:NAME', 'is odd'),
  ])
  t.strictSame(validateObjectMeta({ name: 'a' }, { namespaced: false }), [])
  t.strictSame(validateObjectMeta({ name: 'a', namespace: '' }, { namespaced: false }), [])
  t.strictSame(validateObjectMeta(all, { namespaced: false }), [forbidden('metadata.namespace', 'not allowed on this type')])
  t.strictSame(validateObjectMeta({ ...all, generation: -1 }, namespaced), [
    invalid('metadata.generation', -1, 'must be greater than or equal to 0'),
  ])
  t.strictSame(validateObjectMeta({ ...all, generation: 0 }, namespaced), [])
  t.strictSame(validateObjectMeta({ ...all, labels: { 'a b': 'c' }, annotations: { 'A B': '-', OK: '-' } }, namespaced), [
    key('metadata.labels', 'a b'),
    invalid('metadata.annotations', 'A B', `name part ${characters}`),
  ])
  const upper = { 'Example.com/A': 'b' }
  t.strictSame(validateObjectMeta({ ...all, annotations: upper }, namespaced), [], 'the prefix of an annotation may be in upper case')
  t.strictSame(validateObjectMeta({ ...all, labels: upper }, namespaced), [
    invalid('metadata.labels', 'Example.com/A', `prefix part ${subdomainMessage}`),
  ])
})

t.test('the size of annotations counts the bytes of keys and values', async (t) => {
  const problems = (annotations: object) => validateObjectMeta({ name: 'a', annotations }, { namespaced: false })
  t.equal(maxAnnotationBytes, 262_144)
  t.strictSame(problems({ ab: 'x'.repeat(maxAnnotationBytes - 2) }), [])
  t.strictSame(problems({ ab: 'x'.repeat(maxAnnotationBytes - 1) }), [tooLong('metadata.annotations', maxAnnotationBytes)])
  t.strictSame(problems({ ab: 'ü'.repeat(maxAnnotationBytes / 2) }), [tooLong('metadata.annotations', maxAnnotationBytes)])
  t.strictSame(problems({ a: 'x'.repeat(maxAnnotationBytes / 2), b: 'x'.repeat(maxAnnotationBytes / 2 - 2) }), [])
})

t.test('owner references need all fields, at most one controller, and must not be Events', async (t) => {
  const problems = (...ownerReferences: unknown[]) => validateObjectMeta({ name: 'a', ownerReferences }, { namespaced: false })
  const at = 'metadata.ownerReferences'
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
  t.strictSame(problems(owner, { ...owner, controller: true }, 'none', { ...owner, controller: false }), [])
  t.strictSame(problems({}), [
    invalid(`${at}.apiVersion`, '', 'version must not be empty'),
    invalid(`${at}.kind`, '', 'must not be empty'),
    invalid(`${at}.name`, '', 'must not be empty'),
    invalid(`${at}.uid`, '', 'must not be empty'),
  ])
  t.equal(problems('none', {}).length, 4, 'the references after an invalid one are validated')
  t.strictSame(problems({ ...owner, controller: 'true' }, { ...owner, controller: 'true' }), [], 'a string is no boolean')
  const [one, two] = [
    { ...owner, controller: true },
    { ...owner, name: 'q', controller: true, blockOwnerDeletion: true },
  ]
  t.strictSame(problems(one, two), [
    {
      path: at,
      reason: 'FieldValueInvalid',
      message:
        'Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u","controller":true,"blockOwnerDeletion":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
    },
  ])
  t.strictSame(problems({ uid: 'u', name: 'e', kind: 'Event', apiVersion: 'v1' }), [
    {
      path: at,
      reason: 'FieldValueInvalid',
      message: 'Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    },
  ])
  t.strictSame(problems({ ...owner, kind: 'Event', apiVersion: 'events.k8s.io/v1' }), [])
})

t.test('finalizers are qualified names, those of built-in types need a domain', async (t) => {
  const problems = (finalizers: unknown, qualifiedFinalizers?: boolean) =>
    validateObjectMeta(
      { name: 'a', finalizers },
      { namespaced: false, ...(qualifiedFinalizers === undefined ? {} : { qualifiedFinalizers }) },
    )
  t.strictSame(problems(['a', 'example.com/b', 7]), [])
  t.strictSame(problems(['-']), [invalid('metadata.finalizers', '-', `name part ${characters}`)])
  t.strictSame(problems(['orphan', 'foregroundDeletion']), [
    invalid('metadata.finalizers', ['orphan', 'foregroundDeletion'], 'finalizer orphan and foregroundDeletion cannot be both set'),
  ])
  t.strictSame(problems(['orphan']), [])
  t.strictSame(problems('orphan', true), [])
  t.strictSame(problems(['example.com/b', 'a', 'kubernetes', 'orphan', 7], true), [
    invalid('metadata.finalizers[1]', 'a', 'name is neither a standard finalizer name nor is it fully qualified'),
  ])
  t.strictSame(problems(['a'], false), [])
  t.strictSame(
    unqualifiedFinalizers(['foregroundDeletion', 'b'], (index) => `at ${index}`),
    [invalid('at 1', 'b', 'name is neither a standard finalizer name nor is it fully qualified')],
  )
  t.strictSame(unqualifiedFinalizers(undefined, String), [])
})

t.test('validation stops after 250 errors', async (t) => {
  const problems = (metadata: object) => validateObjectMeta({ name: 'a', ...metadata }, { namespaced: false }).length
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a b${index}`, 'x']))
  for (const field of ['labels', 'annotations']) {
    t.equal(problems({ [field]: keys(251) }), 251, field)
    t.equal(problems({ [field]: keys(400) }), 251, field)
  }
  t.equal(problems({ finalizers: Array(400).fill('-') }), 251)
  t.equal(problems({ ownerReferences: Array(400).fill({}) }), 252)
})

t.test('the errors of metadata are in the order of the API server', async (t) => {
  const metadata = {
    finalizers: ['-'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }],
    annotations: { 'A B': '' },
    labels: { 'a b': '' },
    generation: -1,
    namespace: '-',
    name: '-',
    generateName: '-',
  }
  t.strictSame(
    validateObjectMeta(metadata, { namespaced: true }).map(({ path }) => path.slice('metadata.'.length)),
    ['generateName', 'name', 'namespace', 'generation', 'labels', 'annotations', 'ownerReferences.uid', 'finalizers'],
  )
})
