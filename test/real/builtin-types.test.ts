/**
 * What Proreus says of an embedded built-in type, beside what the real API server says of the same value where it belongs: specs with one
 * mistake each, of every kind that an OpenAPI document can tell, in nearly every field that there is.
 */
import t from 'tap'
import type { Test } from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { StatusCause } from '../../src/api/status.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { apiOf } from '../support/api-request.ts'
import type { Mistake } from '../support/builtin-mistakes.ts'
import { mistakesIn } from '../support/builtin-mistakes.ts'
import type { FullSpec } from '../support/builtin-specs.ts'
import { fullSpecs } from '../support/builtin-specs.ts'

t.setTimeout(300_000)
const namespace = 'builtin-types'
const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false, namespaces: [namespace] })
t.teardown(() => controlPlane.stop())
const api = apiOf(t, controlPlane.connection)
await api('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { body: { metadata: { name: 'default' } } })

/** Where the API server's own validation names another field than the one that is wrong, or a name of its own. */
const theirNames: readonly (readonly [RegExp, string])[] = [
  [/\.downwardAPI\.items\[\d+\]/, '.downwardAPI'],
  [/\.projected\.sources\[\d+\]\.serviceAccountToken/, '.projected'],
  [/\.gcePersistentDisk/, '.persistentDisk'],
  [/\.volumeMounts\[\d+\]\.mountPropagation/, '.volumeMounts.mountPropagation'],
  // Of a missing selector, a DaemonSet is only told that it selects nothing.
  [/^spec\.selector$/, 'spec.template.metadata.labels'],
]

/** What is said of a spec, by paths: `ours` by Proreus, `theirs` by the API server. */
interface Verdicts {
  readonly ours: readonly string[]
  readonly unknown: readonly string[]
  readonly refused: boolean
  readonly theirs: readonly string[]
  /** Of both, what is said of texts that are none of the known ones. */
  readonly texts: readonly [ours: readonly string[], theirs: readonly string[]]
  /** All that there is where the spec cannot even be decoded. */
  readonly message: string
  readonly warnings: readonly string[]
}

function judgeOf({ apiVersion, kind, plural, type }: FullSpec): (value: JsonObject) => Promise<Verdicts> {
  const holder = defineKind({
    group: 'example.com',
    kind: 'Holder',
    versions: [{ name: 'v1', spec: Type.Builtin(type), specRequired: true }],
  })
  const schema = schemaOf(holder)
  const prefix = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return async (spec) => {
    const object = { apiVersion: 'example.com/v1', kind: 'Holder', metadata: { name: 'name' }, spec }
    const body = { ...object, apiVersion, kind }
    const path = `${prefix}/namespaces/${namespace}/${plural}?dryRun=All&fieldValidation=Warn`
    const answer = await api('POST', path, { body })
    const { causes = [] } = (answer.body.details ?? {}) as { causes?: readonly StatusCause[] }
    const errors = schema.validate(object)
    return {
      ours: errors.map(({ path: field }) => field),
      unknown: schema.unknownFields(object),
      refused: answer.status >= 300,
      theirs: causes.map(({ field = '' }) => field),
      texts: [
        errors.filter(isNotSupported).map(({ message }) => message),
        causes.filter(isNotSupported).map(({ message = '' }) => message),
      ],
      message: answer.status >= 300 ? String(answer.body.message) : '',
      warnings: answer.warnings,
    }
  }
}

function isNotSupported({ reason }: Pick<StatusCause, 'reason'>): boolean {
  return reason === 'FieldValueNotSupported'
}

/** Why two verdicts do not fit together; undefined when they do. */
function disagreement({ what, path }: Mistake, verdicts: Verdicts): string | undefined {
  const { ours, unknown, refused, theirs, message, warnings } = verdicts
  const [ourTexts, theirTexts] = verdicts.texts
  const ourField = ours.find((field) => field !== '<nil>')
  if (ourField !== undefined && !refused) return 'only Proreus refuses it'
  if (ourField === undefined && (what === 'missing' || what === 'wrong type')) return 'only the API server refuses it'
  if (what === 'unknown field' && !unknown.every((field) => warnings.includes(`unknown field "${field}"`))) return 'not the same warnings'
  if (ourField === undefined || what === 'null' || what === 'empty') return undefined
  // Go's decoder knows no indices; of some types it does not even tell the field.
  const [, decoded] = /Go struct field \w+\.([\w.]+) of type/.exec(message) ?? []
  // Embedded structs have names in Go alone.
  const decodedField = decoded?.replaceAll(/\.[A-Z]\w*(?=\.)/g, '')
  if (decodedField !== undefined) return ourField.replaceAll(/\[\d+\]/g, '').startsWith(decodedField) ? undefined : 'another field'
  if (theirs.length === 0) return /quantities must match|unmarshal/.test(message) ? undefined : 'refused otherwise'
  const known = theirNames.reduce((field, [ourName, theirName]) => field.replace(ourName, theirName), ourField)
  if (!theirs.some((field) => field.startsWith(known) || known.startsWith(field))) return 'another field'
  if (what !== 'wrong text' || theirTexts.length === 0 || !theirs.includes(ourField)) return undefined
  // Of some texts, features that are off or the other fields decide whether they are supported.
  const dependent = path === 'tolerations[0].operator' || path === 'podReplacementPolicy'
  return dependent || theirTexts.some((text) => ourTexts.includes(text)) ? undefined : 'another text'
}

async function compare(t: Test, full: FullSpec): Promise<void> {
  const judge = judgeOf(full)
  const { ours, unknown, message } = await judge(full.spec)
  t.strictSame({ ours, unknown, message }, { ours: [], unknown: [], message: '' }, 'without mistakes both accept it')
  const mistakes = mistakesIn(full.type, full.spec)
  t.comment(`${mistakes.length} mistakes`)
  const verdicts = await Promise.all(mistakes.map(({ value }) => judge(value)))
  mistakes.forEach((mistake, index) => {
    const problem = disagreement(mistake, verdicts[index]!)
    if (problem !== undefined) t.fail(`${mistake.what} at ${mistake.path}: ${problem}`, { found: verdicts[index] })
  })
}

for (const full of fullSpecs) t.test(`${full.kind} (${Object.keys(full.spec).length} fields)`, (t) => compare(t, full))
