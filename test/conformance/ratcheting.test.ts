/**
 * Tests of CRD ratcheting: updates of objects after the schema of the CRD has become stricter. The API server accepts an invalid value if
 * the update leaves it unchanged. If the unchanged value violates a validation rule without `oldSelf`, the response contains a warning.
 */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-ratcheting'
const group = 'ratcheting.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)

const string: JsonObject = { type: 'string' }
const strings: JsonObject = { type: 'array', items: string }
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })
const list = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more })
const rules = (...all: JsonObject[]): JsonObject => ({ 'x-kubernetes-validations': all })
const rule = (text: string, more: JsonObject = {}): JsonObject => rules({ rule: text, message: 'no', ...more })
const keyed: JsonObject = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
const named = (more: JsonObject = {}, required: string[] = []): JsonObject =>
  object({ name: string, value: { ...string, ...more } }, { required: ['name', ...required] })

/** Updates of one field. The stored value is valid in the schema `before`, and the updates are validated with the schema `after`. */
interface Case {
  readonly before: JsonObject
  readonly after: JsonObject
  readonly value: JsonValue
  /** The values that updates write. Each has the expected errors and warnings. */
  readonly updates: readonly { readonly to: JsonValue; readonly errors?: readonly string[]; readonly warnings?: readonly string[] }[]
}

const notChecked =
  '-: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

const cases: Readonly<Record<string, Case>> = {
  rule: {
    before: string,
    after: { ...string, ...rule('self.size() > 2') },
    value: 'a',
    updates: [
      { to: 'a', warnings: ['rule: Invalid value: "a": no'] },
      { to: 'b', errors: ['rule: Invalid value: "b": no'] },
      { to: 'abc' },
    ],
  },
  ruleOfAnObject: {
    before: object({ a: string, b: string }),
    after: object({ a: string, b: string }, rule('self.a == self.b', { reason: 'FieldValueForbidden', fieldPath: '.a' })),
    value: { a: 'x', b: 'y' },
    updates: [
      { to: { a: 'x', b: 'y' }, warnings: ['ruleOfAnObject.a: Forbidden: no'] },
      { to: { a: 'x', b: 'z' }, errors: ['ruleOfAnObject.a: Forbidden: no'] },
      { to: { a: 'y', b: 'y' } },
    ],
  },
  ruleBelow: {
    before: object({ a: string, b: string }),
    after: object({ a: { ...string, ...rule("self == 'good'", { messageExpression: "'found ' + self" }) }, b: string }),
    value: { a: 'bad', b: 'y' },
    updates: [
      { to: { a: 'bad', b: 'changed' }, warnings: ['ruleBelow.a: Invalid value: "bad": found bad'] },
      { to: { a: 'worse', b: 'y' }, errors: ['ruleBelow.a: Invalid value: "worse": found worse'] },
    ],
  },
  // This case tests a field with the name `kind` in the spec and in the status. If the value of this field violates the rule of the case,
  // and an update leaves the value unchanged, the response contains a warning instead of an error, as for any other field. Only the field
  // `kind` at the root of an object is different: if its value violates a rule, the response to every update contains an error.
  kind: {
    before: string,
    after: { ...string, ...rule("self != 'Old'") },
    value: 'Old',
    updates: [{ to: 'Old', warnings: ['kind: Invalid value: "Old": no'] }, { to: 'New' }],
  },
  transition: {
    before: { type: 'integer' },
    after: { type: 'integer', ...rule('self > oldSelf') },
    value: 3,
    updates: [{ to: 3, errors: ['transition: Invalid value: 3: no'] }, { to: 4 }],
  },
  optionalOldSelf: {
    before: string,
    after: { ...string, ...rule('oldSelf.hasValue() ? self.size() > 2 : true', { optionalOldSelf: true }) },
    value: 'a',
    updates: [
      { to: 'a', errors: ['optionalOldSelf: Invalid value: "a": no'] },
      { to: 'b', errors: ['optionalOldSelf: Invalid value: "b": no'] },
    ],
  },
  enumeration: {
    before: string,
    after: { ...string, enum: ['x', 'y'] },
    value: 'a',
    updates: [
      { to: 'a' },
      { to: 'b', errors: [notChecked, 'enumeration: Unsupported value: "b": supported values: "x", "y"'] },
      { to: 'x' },
    ],
  },
  limits: {
    before: object({ n: { type: 'integer' }, s: string, l: strings }),
    after: object({ n: { type: 'integer', minimum: 5 }, s: { ...string, pattern: '^x', maxLength: 1 }, l: { ...strings, maxItems: 1 } }),
    value: { n: 1, s: 'ab', l: ['a', 'b'] },
    updates: [
      { to: { n: 1, s: 'ab', l: ['a', 'b'] } },
      {
        to: { n: 2, s: 'ab', l: ['a', 'b'] },
        errors: ['limits.n: Invalid value: 2: limits.n in body should be greater than or equal to 5'],
      },
      { to: { n: 1, s: 'cd', l: ['a', 'b'] }, errors: [notChecked, 'limits.s: Too long: may not be more than 1 byte'] },
      { to: { n: 1, s: 'ab', l: ['a', 'c'] }, errors: [notChecked, 'limits.l: Too many: 2: must have at most 1 item'] },
    ],
  },
  type: {
    before: { 'x-kubernetes-int-or-string': true },
    after: string,
    value: 3,
    updates: [{ to: 3 }, { to: 4, errors: [notChecked, 'type: Invalid value: "integer": type in body must be of type string: "integer"'] }],
  },
  required: {
    before: object({ a: string, b: string, c: object({ d: string, e: string }) }),
    after: object({ a: string, b: string, c: object({ d: string, e: string }, { required: ['e'] }) }, { required: ['b'] }),
    value: { a: 'x', c: { d: 'y' } },
    updates: [
      { to: { a: 'x', c: { d: 'y' } } },
      { to: { a: 'z', c: { d: 'y' } }, errors: [notChecked, 'required.b: Required value'] },
      { to: { a: 'x', b: 'y', c: { d: 'y' } } },
    ],
  },
  keyedItems: {
    before: list(named(), keyed),
    after: list(named({ maxLength: 1, ...rule("self != 'bad'") }, ['value']), keyed),
    value: [{ name: 'a', value: 'bad' }, { name: 'b' }],
    updates: [
      {
        to: [{ name: 'b' }, { name: 'new', value: 'x' }, { name: 'a', value: 'bad' }],
        warnings: ['keyedItems[2].value: Invalid value: "bad": no'],
      },
      {
        to: [{ name: 'a', value: 'bad' }, { name: 'b' }, { name: 'c', value: 'bad' }],
        errors: [notChecked, 'keyedItems[2].value: Too long: may not be more than 1 byte'],
      },
      {
        to: [{ name: 'a', value: 'worse' }, { name: 'b' }],
        errors: [notChecked, 'keyedItems[0].value: Too long: may not be more than 1 byte'],
      },
    ],
  },
  atomicItems: {
    before: strings,
    after: list({ ...string, maxLength: 1 }),
    value: ['ab', 'c'],
    updates: [{ to: ['ab', 'c'] }, { to: ['ab', 'd'], errors: [notChecked, 'atomicItems[0]: Too long: may not be more than 1 byte'] }],
  },
  setItems: {
    before: { ...strings, 'x-kubernetes-list-type': 'set' },
    after: list({ ...string, maxLength: 1 }, { 'x-kubernetes-list-type': 'set' }),
    value: ['ab', 'c'],
    updates: [{ to: ['ab', 'c'] }, { to: ['ab', 'd'], errors: [notChecked, 'setItems[0]: Too long: may not be more than 1 byte'] }],
  },
  values: {
    before: { type: 'object', additionalProperties: string },
    after: { type: 'object', additionalProperties: { ...string, maxLength: 1 } },
    value: { a: 'ab' },
    updates: [
      { to: { a: 'ab', b: 'c' } },
      { to: { a: 'ab', b: 'cd' }, errors: [notChecked, 'values.b: Too long: may not be more than 1 byte'] },
      { to: { a: 'cd' }, errors: [notChecked, 'values.a: Too long: may not be more than 1 byte'] },
    ],
  },
  duplicates: {
    before: strings,
    after: { ...strings, 'x-kubernetes-list-type': 'set' },
    value: ['a', 'a'],
    updates: [{ to: ['a', 'a'] }, { to: ['a', 'a', 'b'] }, { to: ['b', 'b'] }],
  },
  duplicateKeys: {
    before: list(named()),
    after: list(named(), keyed),
    value: [{ name: 'a' }, { name: 'a' }],
    updates: [{ to: [{ name: 'a' }, { name: 'a' }] }, { to: [{ name: 'b' }, { name: 'b' }] }],
  },
  anyOf: {
    before: { type: 'integer' },
    after: { type: 'integer', anyOf: [{ minimum: 10 }, { maximum: 1 }] },
    value: 5,
    updates: [
      { to: 5 },
      {
        to: 6,
        errors: [
          '-: Invalid value: "": "anyOf" must validate at least one schema (anyOf)',
          'anyOf: Invalid value: 6: anyOf in body should be greater than or equal to 10',
        ],
      },
    ],
  },
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const things = `/apis/${group}/v1/namespaces/${namespace}/things`

function definition(which: 'before' | 'after'): JsonObject {
  const fields = Object.fromEntries(Object.entries(cases).map(([name, one]) => [name, one[which]]))
  const schema = object({ spec: object({ ...fields, other: string }), status: object(fields) })
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }],
    },
  }
}

const parts = { spec: '', status: '/status' } as const
type Part = keyof typeof parts

/** Returns the URL path of the object whose spec or status contains only this field. */
function pathOf(part: Part, field: string): string {
  return `${things}/${part}-${field.toLowerCase()}`
}

function patch(path: string, body: JsonObject): Promise<RawAnswer> {
  return api('PATCH', path, { contentType: 'application/merge-patch+json', body })
}

/**
 * Returns the causes of a rejection as `PATH: MESSAGE`. Paths are relative to the spec or the status. The path `-` stands for the spec or
 * the status itself.
 */
function causesOf({ body, status }: RawAnswer, part: Part): string[] {
  if (status === 200) return []
  const causes = ((body.details as JsonObject | undefined)?.causes ?? []) as { field: string; message: string }[]
  const texts = causes.map(({ field, message }) => `${field === '<nil>' || field === part ? '-' : field}: ${message}`)
  return texts.map((text) => text.replaceAll(`${part}.`, '')).toSorted()
}

t.before(async () => {
  await api('POST', definitions, { body: definition('before') })
  await until('things are served', async () => (await api('GET', things)).status === 200)
  for (const [field, { value }] of Object.entries(cases)) {
    for (const part of ['spec', 'status'] as const) {
      const metadata = { name: `${part}-${field.toLowerCase()}` }
      const written = { [part]: { [field]: value } }
      const created = await api('POST', things, { body: { apiVersion: `${group}/v1`, kind: 'Thing', metadata, ...written } })
      if (created.status !== 201) throw new Error(`${field}: ${created.text}`)
      if (part === 'status') await patch(`${pathOf(part, field)}/status`, written)
    }
  }
  const body = [{ op: 'replace', path: '/spec', value: definition('after').spec }]
  const changed = await api('PATCH', `${definitions}/things.${group}`, { contentType: 'application/json-patch+json', body })
  if (changed.status !== 200) throw new Error(changed.text)
  await until('the new schema counts', async () => {
    const answer = await patch(`${pathOf('spec', 'enumeration')}?dryRun=All`, { spec: { enumeration: 'b' } })
    return answer.status === 422
  })
})

for (const [part, subresource] of Object.entries(parts) as [Part, string][]) {
  t.test(`an update of the ${part}`, async (t) => {
    for (const [field, { updates }] of Object.entries(cases)) {
      for (const { to, errors = [], warnings = [] } of updates) {
        const answer = await patch(`${pathOf(part, field)}${subresource}?dryRun=All`, {
          // The annotation changes in each update, because the API server does not write an object without changes.
          metadata: { annotations: { now: JSON.stringify(to) } },
          [part]: { [field]: to },
        })
        const what = `${field} becomes ${JSON.stringify(to)}`
        t.strictSame(causesOf(answer, part), [...errors].toSorted(), what)
        t.strictSame(
          answer.warnings.map((text) => text.replaceAll(`${part}.`, '')),
          warnings,
          what,
        )
      }
    }
  })
}
