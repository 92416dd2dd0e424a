import t from 'tap'
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../src/api/names.ts'
import { maxAnnotationBytes, validateObjectMeta } from '../../src/api/object-meta.ts'
import { processorTimeMs } from '../support/turns.ts'

t.test('names that Kubernetes accepts', async (t) => {
  for (const name of ['a', 'a-1', '1a', 'a'.repeat(63)]) t.strictSame(dns1123Label(name), [], name)
  for (const name of ['a.b', 'a-b.c-d', 'a'.repeat(253)]) t.strictSame(dns1123Subdomain(name), [], name)
  for (const key of ['a', 'A_b.c', 'example.com/Name', 'a'.repeat(63)]) t.strictSame(qualifiedName(key), [], key)
  for (const value of ['', 'a', 'A_b.c-1']) t.strictSame(labelValue(value), [], value)
})

t.test('names that it refuses, in its words', async (t) => {
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

t.test('a name may be as long as it may be, and no longer', async (t) => {
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
})

t.test('a long run of wrong characters is refused at once', async (t) => {
  const started = processorTimeMs()
  t.ok(dns1123Subdomain(`${'a-'.repeat(200_000)}!`).length > 0)
  t.ok(labelValue(`${'a.'.repeat(200_000)}!`).length > 0)
  t.ok(processorTimeMs() - started < 1000)
})

t.test('metadata of a new object', async (t) => {
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
