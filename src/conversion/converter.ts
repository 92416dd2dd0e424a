/** `createConverter`: converts objects between the versions of a kind, through the hub version, without losing fields. */
import { ProreusError, messageOf } from '../api/errors.ts'
import { apiVersionOf, groupKindOf } from '../api/group-version-kind.ts'
import type { JsonObject } from '../api/json.ts'
import { deepFreeze, isObject, jsonEqual, stringifyJson } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { Logger } from '../telemetry/logger.ts'
import { completeResult } from './converted-object.ts'
import type { Convert, ConversionDefinition } from './definition.ts'
import { keptAnnotation, putKeptAnnotations, takeKeptAnnotations } from './kept-annotations.ts'
import { readKeptFields, restoreWhatFits, writeKeptFields } from './kept-text.ts'
import { sharedFields } from './shared-fields.ts'
import { ReportedFields } from './reported-fields.ts'
import type { TaskSlices } from '../runtime/time-slices.ts'

/** The parameters of a conversion other than the object and its target version. */
export interface ConversionCall {
  readonly signal: AbortSignal
  readonly logger: Logger
  /**
   * Called when fields of one version may be lost because another version cannot express them. There are two cases:
   *
   * - The conversion to the other version does not store the fields in the annotation `conversion.GROUP/VERSION`.
   * - The conversion back to VERSION does not restore the stored fields.
   */
  unkept?(unkept: Unkept): void
  /** Called when a converter's result contains unknown fields. An `ObjectConverter` reports each unknown field of a version only once. */
  dropped?(dropped: Dropped): void
  /**
   * The time slices of the ConversionReview. The conversion yields to the event loop after each time slice. All objects of the review share
   * the slices. A large object needs several slices.
   */
  readonly slices?: TaskSlices
  /** Called when the conversion fails because a converter throws. */
  readonly threw?: () => void
}

type UnkeptReason = 'too large' | 'not accepted' | 'not convertible'

/** Fields that are lost when the object is converted to another version and back. */
export interface Unkept {
  readonly reason: UnkeptReason
  /** The log fields that identify the object. */
  readonly object: object
  readonly text: string
  readonly error?: unknown
}

/** Unknown fields in a converter's result. Usually, their names are misspelled, or they were copied from the source version. */
export interface Dropped {
  /** The log fields that identify the first object with these unknown fields. */
  readonly object: object
  readonly paths: readonly string[]
  /** The log message, which names the versions of the converter. */
  readonly text: string
}

export interface ObjectConverter {
  readonly kind: Kind
  /** The names of all versions of the kind. `convert` converts between any two of them. */
  readonly versions: ReadonlySet<string>
  /**
   * Converts an object to another version. May freeze nested objects of `object`, because the result shares them.
   *
   * @throws {Error} the error that a converter throws.
   * @throws {ProreusError} `PRO_INPUT` when the object's kind or a version is unknown, or when a converter returns an invalid result.
   */
  convert(object: JsonObject, version: string, call: ConversionCall): Promise<JsonObject>
}

/** One step of a conversion: from the hub to a spoke, or from a spoke to the hub. */
interface Step {
  readonly from: string
  readonly to: string
  readonly source: CompiledSchema
  readonly target: CompiledSchema
  readonly apiVersion: string
  /** The converter of this direction; undefined when both versions have the same fields. */
  readonly converter: Convert | undefined
  readonly inverse: Convert | undefined
  readonly reported: ReportedFields
}

export function createConverter({ kind, lossless, spokes }: ConversionDefinition): ObjectConverter {
  const hub = kind.version
  const reported = new ReportedFields()
  const step = (from: string, to: string, converter: Convert | undefined, inverse: Convert | undefined): Step => ({
    from,
    to,
    source: schemaOf(kind, from),
    target: schemaOf(kind, to),
    apiVersion: apiVersionOf({ group: kind.group, version: to }),
    converter,
    inverse,
    reported,
  })
  const steps = new Map(
    kind.versions
      .filter(({ name }) => name !== hub)
      .map(({ name }) => {
        const { toHub, fromHub } = spokes.get(name) ?? {}
        return [name, { toHub: step(name, hub, toHub, fromHub), fromHub: step(hub, name, fromHub, toHub) }] as const
      }),
  )
  const versions = new Set(kind.versions.map(({ name }) => name))
  const prefix = `${kind.group}/`
  return {
    kind,
    versions,
    async convert(object, version, call) {
      const { apiVersion } = object
      const from = typeof apiVersion === 'string' && apiVersion.startsWith(prefix) ? apiVersion.slice(prefix.length) : ''
      if (object.kind !== kind.kind || !versions.has(from) || !versions.has(version)) {
        const found = `${stringifyJson(object.kind)} of ${stringifyJson(apiVersion)}`
        throw new ProreusError(
          'PRO_INPUT',
          `${found} cannot be converted to ${version}: ${groupKindOf(kind)} has ${[...versions].join(', ')}`,
        )
      }
      if (from === version) return object
      const inHub = from === hub ? object : await convertStep(kind, lossless, steps.get(from)!.toHub, object, call)
      const result = version === hub ? inHub : await convertStep(kind, lossless, steps.get(version)!.fromHub, inHub, call)
      // To update `managedFields`, the API server converts objects that contain only the fields of one field manager. Such an object may
      // have no metadata, but the API server requires metadata in the result (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion:
      // restoreObjectMeta).
      return result.metadata === undefined ? { ...result, metadata: {} } : result
    },
  }
}

async function convertStep(kind: Kind, lossless: boolean, step: Step, object: JsonObject, call: ConversionCall): Promise<JsonObject> {
  if (step.converter === undefined || step.inverse === undefined) return { ...object, apiVersion: step.apiVersion }
  const taken = takeKeptAnnotations(kind, object.metadata)
  const kept = taken.texts.get(step.to)
  taken.texts.delete(step.to)
  // The annotation for a version stores fields of this version that other versions cannot express. An object in this version contains these
  // fields itself. The annotation for `step.from` is therefore unnecessary, and is removed.
  taken.texts.delete(step.from)
  const { metadata: _, ...content } = object
  const defaulted = step.source.default(taken.metadata === undefined ? content : { ...content, metadata: taken.metadata })
  await yieldToEventLoop(call)
  const source = deepFreeze(defaulted)
  let result = await run({ ...step, converter: step.converter, call }, source)
  if (lossless) {
    let back: JsonObject | undefined
    if (kept !== undefined) ({ result, back } = await restoreInto(step, source, result, kept, call))
    else back = await convertBack(step, source, result, call)
    await yieldToEventLoop(call)
    const text = back === undefined ? undefined : writeKeptFields(back, source, step.source.schema)
    if (text !== undefined) taken.texts.set(step.from, text)
  }
  const { metadata, unkept } = putKeptAnnotations(kind, result.metadata as JsonObject | undefined, taken.texts)
  for (const version of unkept) {
    const text = `what ${step.to} cannot express of ${version} is too large for the annotation ${keptAnnotation(kind, version)} and is lost`
    call.unkept?.({ reason: 'too large', object: facts(object), text })
  }
  return metadata === undefined ? result : { ...result, metadata }
}

/**
 * Restores the fields that are stored in `text`, the text of an annotation. The fields are restored in a copy of `plain`, the converted
 * object.
 *
 * The fields are restored only if clients that use the version of `source` see no difference. To check this, the function converts the
 * restored object back to the version of `source`. The spec and the status of the resulting object must be equal to the spec and the status
 * of one of these objects:
 *
 * - `source`
 * - `plain` after its conversion back to the version of `source`
 *
 * Returns two objects:
 *
 * - `result`: the restored object; `plain` if no fields are restored.
 * - `back`: `result` after its conversion back to the version of `source`; undefined if this conversion fails.
 */
async function restoreInto(
  step: Step,
  source: JsonObject,
  plain: JsonObject,
  text: string,
  call: ConversionCall,
): Promise<{ result: JsonObject; back: JsonObject | undefined }> {
  const kept = readKeptFields(text)
  const { restored, refused } = kept === undefined ? { restored: plain, refused: [] } : restoreWhatFits(plain, kept, step.target)
  if (kept === undefined) giveUp('is malformed')
  else if (refused.length > 0) giveUp(`is refused by the schema: ${refused.join(', ')}`)
  const plainBack = await convertBack(step, source, plain, call)
  if (restored === plain) return { result: plain, back: plainBack }
  const back = await convertBack(step, source, restored, call)
  if (back !== undefined && (showsSame(back, source) || (plainBack !== undefined && showsSame(back, plainBack))))
    return { result: restored, back }
  giveUp(`would change what ${step.from} shows`)
  return { result: plain, back: plainBack }

  function giveUp(why: string): void {
    const text = `what an annotation has kept of ${step.to} ${why}, and is not restored`
    call.unkept?.({ reason: 'not accepted', object: facts(source), text })
  }
}

/** Converts the result of a step back to the version of the source. Returns undefined when this conversion fails. */
async function convertBack(step: Step, source: JsonObject, result: JsonObject, call: ConversionCall): Promise<JsonObject | undefined> {
  const { inverse, from, to, source: target, target: schema, reported } = step
  const apiVersion = source.apiVersion as string
  // The callback `threw` is removed, because an exception of `inverse` does not make the conversion of the object fail. Instead, the
  // exception is passed to the callback `unkept`.
  const { threw: _, ...backCall } = call
  try {
    return await run(
      { converter: inverse!, from: to, to: from, apiVersion, source: schema, target, reported, call: backCall },
      deepFreeze(result),
    )
  } catch (error) {
    const text = `an object that was converted from ${from} to ${to} cannot be converted back, so that nothing is kept: ${messageOf(error)}`
    call.unkept?.({ reason: 'not convertible', object: facts(source), text, error })
    return undefined
  }
}

/**
 * The parameters of one call of the function `converter`. This function converts an object from the version `from` to the version `to`.
 * `source` and `target` are the schemas of these versions.
 */
interface Way extends Omit<Step, 'converter' | 'inverse'> {
  readonly converter: Convert
  readonly call: ConversionCall
}

/**
 * Calls a converter. Contrary to the static types, the object may lack required fields: for server-side apply, the API server computes
 * `managedFields` by converting objects that contain only the fields of one field manager. If the converter throws for an object that lacks
 * required fields, the exception is only logged. The result then contains the fields that both versions have in common.
 */
async function run(way: Way, source: JsonObject): Promise<JsonObject> {
  const { converter, from, to, call, reported } = way
  const { signal, logger } = call
  const given = source.spec === undefined ? deepFreeze({ ...source, spec: {} }) : source
  await yieldToEventLoop(call)
  let result: unknown
  try {
    result = await converter(given, { from, to, signal, logger })
  } catch (error) {
    if (!way.source.validateStructure(given).some(({ reason }) => reason === 'FieldValueRequired')) {
      call.threw?.()
      throw error
    }
    logger.debug({ ...facts(source), err: error }, `an object that is not whole was converted to ${to} by what it has in common with it`)
    result = sharedFields(contentOf(given), way.source.schema, way.target.schema)
  }
  if (source.spec === undefined && isObject(result) && isObject(result.spec) && Object.keys(result.spec).length === 0)
    result = { ...result, spec: undefined }
  await yieldToEventLoop(call)
  return completeResult(source, result, way.apiVersion, way.target, (dropped) => {
    const paths = reported.newPaths(to, dropped)
    if (paths.length > 0)
      call.dropped?.({ object: facts(source), paths, text: `the converter from ${from} to ${to} returned fields that ${to} does not have` })
  })
}

/** Yields to the event loop when the time slice is used up. */
async function yieldToEventLoop({ slices }: ConversionCall): Promise<void> {
  await slices?.next()
}

function contentOf({ spec, status }: JsonObject): JsonObject {
  return { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) }
}

function showsSame(a: JsonObject, b: JsonObject): boolean {
  return jsonEqual(a.spec, b.spec) && jsonEqual(a.status, b.status)
}

/** Returns the log fields that identify an object. */
export function facts(object: JsonObject): object {
  const { name, namespace } = (object.metadata ?? {}) as { name?: string; namespace?: string }
  return { apiVersion: object.apiVersion, kind: object.kind, namespace, name }
}
