/**
 * Compares how Proreus and the real API server validate specs of built-in types. Each spec has one mistake. Together, the specs contain
 * every type of mistake that an OpenAPI schema can detect, in nearly every field.
 *
 * The API server validates an object of the built-in type. Proreus validates an object of a custom kind whose `spec` has the type of the
 * built-in object's `spec`.
 */
import t from 'tap'
import type { Test } from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { StatusCause } from '../../src/api/status.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { Mistake } from '../support/builtin-types/mistakes.ts'
import { mistakesIn } from '../support/builtin-types/mistakes.ts'
import type { FullSpec } from '../support/builtin-types/specs.ts'
import { fullSpecs } from '../support/builtin-types/specs.ts'

t.setTimeout(300_000)
const namespace = 'builtin-types'
const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false, namespaces: [namespace] })
t.teardown(() => controlPlane.stop())
const api = apiOf(t, controlPlane.connection)
await api('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { body: { metadata: { name: 'default' } } })

/**
 * For the same mistake, the field path in the error of Proreus can differ from the path in the error of the API server. Each row has a
 * pattern for a part of the path of Proreus, and the corresponding part of the API server's path.
 */
const theirNames: readonly (readonly [RegExp, string])[] = [
  [/\.downwardAPI\.items\[\d+\]/, '.downwardAPI'],
  [/\.projected\.sources\[\d+\]\.serviceAccountToken/, '.projected'],
  [/\.gcePersistentDisk/, '.persistentDisk'],
  [/\.volumeMounts\[\d+\]\.mountPropagation/, '.volumeMounts.mountPropagation'],
  // For a DaemonSet without a selector, the API server reports an error about the labels of the Pod template, not about the selector.
  [/^spec\.selector$/, 'spec.template.metadata.labels'],
]

/** The errors for a spec. `ours` are the paths in the errors of Proreus, and `theirs` those in the errors of the API server. */
interface Errors {
  readonly ours: readonly string[]
  readonly unknown: readonly string[]
  readonly refused: boolean
  readonly theirs: readonly string[]
  /** The messages of Proreus and of the API server about values that an enum does not contain. */
  readonly texts: readonly [ours: readonly string[], theirs: readonly string[]]
  /**
   * The message with which the API server rejects the spec. Empty if the API server accepts the spec. If the API server cannot decode the
   * spec, the rejection has no causes, so only this message describes the mistake.
   */
  readonly message: string
  readonly warnings: readonly string[]
}

function validatorOf({ apiVersion, kind, plural, type }: FullSpec): (value: JsonObject) => Promise<Errors> {
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

/** Returns how the errors of Proreus and of the API server differ; undefined when they match. */
function mismatch({ what, path }: Mistake, errors: Errors): string | undefined {
  const { ours, unknown, refused, theirs, message, warnings } = errors
  const [ourTexts, theirTexts] = errors.texts
  const ourField = ours.find((field) => field !== '<nil>')
  if (ourField !== undefined && !refused) return 'only Proreus refuses it'
  if (ourField === undefined && (what === 'missing' || what === 'wrong type')) return 'only the API server refuses it'
  if (what === 'unknown field' && !unknown.every((field) => warnings.includes(`unknown field "${field}"`))) return 'not the same warnings'
  if (ourField === undefined || what === 'null' || what === 'empty') return undefined
  // The error messages of Go's decoder contain no list indices. For some types, the messages do not contain the field either.
  const [, decoded] = /Go struct field \w+\.([\w.]+) of type/.exec(message) ?? []
  // Only Go's decoder includes the names of embedded structs in paths.
  const decodedField = decoded?.replaceAll(/\.[A-Z]\w*(?=\.)/g, '')
  if (decodedField !== undefined) return ourField.replaceAll(/\[\d+\]/g, '').startsWith(decodedField) ? undefined : 'another field'
  if (theirs.length === 0) return /quantities must match|unmarshal/.test(message) ? undefined : 'refused otherwise'
  const known = theirNames.reduce((field, [ourName, theirName]) => field.replace(ourName, theirName), ourField)
  if (!theirs.some((field) => field.startsWith(known) || known.startsWith(field))) return 'another field'
  if (what !== 'wrong text' || theirTexts.length === 0 || !theirs.includes(ourField)) return undefined
  // The error message for a wrong value of an enum lists the supported values. For the two fields below, the API server's list may be
  // shorter than the list of Proreus, because the API server supports some values only with a feature gate, or only if other fields are
  // set.
  const dependent = path === 'tolerations[0].operator' || path === 'podReplacementPolicy'
  return dependent || theirTexts.some((text) => ourTexts.includes(text)) ? undefined : 'another text'
}

async function compare(t: Test, full: FullSpec): Promise<void> {
  const validate = validatorOf(full)
  const { ours, unknown, message } = await validate(full.spec)
  t.strictSame({ ours, unknown, message }, { ours: [], unknown: [], message: '' }, 'both accept the spec without mistakes')
  const mistakes = mistakesIn(full.type, full.spec)
  t.comment(`${mistakes.length} mistakes`)
  const errors = await Promise.all(mistakes.map(({ value }) => validate(value)))
  mistakes.forEach((mistake, index) => {
    const problem = mismatch(mistake, errors[index]!)
    if (problem !== undefined) t.fail(`${mistake.what} at ${mistake.path}: ${problem}`, { found: errors[index] })
  })
}

for (const full of fullSpecs) t.test(`${full.kind} (${Object.keys(full.spec).length} fields)`, (t) => compare(t, full))
