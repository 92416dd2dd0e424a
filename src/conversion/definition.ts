/** `defineConversion(kind, { converters })`: declares how objects of a kind are converted between its versions. */
import { ProreusError } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import type { Infer, InferInput, Kind, SpokeOf } from '../api/kind.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isBoolean } from '../api/option-checks.ts'
import type { Logger } from '../telemetry/logger.ts'
import { differences } from './compare-versions.ts'

/** The context of the conversion of one object. */
export interface ConversionContext {
  /** The version of the object. */
  readonly from: string
  /** The requested version. */
  readonly to: string
  /** Aborts when the API server no longer waits for the response. */
  readonly signal: AbortSignal
  readonly logger: Logger
}

type Awaitable<T> = T | Literal | Promise<T | Literal>

/** Labels and annotations that a converter changes. */
export interface ConvertedMetadata {
  /** Default: the labels of the object. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Default: the annotations of the object. */
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

type StatusIn<T> = T extends { status?: infer Status } ? NonNullable<Status> : never
/** The status is optional when it has the same fields in both versions; it is then copied. */
type ConvertedStatus<From, To> = [StatusIn<To>] extends [never]
  ? unknown
  : [StatusIn<From>] extends [StatusIn<To>]
    ? { readonly status?: DeepReadonly<StatusIn<To>> | undefined }
    : { readonly status: DeepReadonly<StatusIn<To>> | undefined }

/**
 * A converter's result: the spec, in which fields with a default are optional; the status, which is copied if left out and equal in both
 * versions; and labels and annotations to change. All other metadata is copied.
 */
export type Converted<From, To, ToInput extends { spec: unknown }> = {
  readonly spec: DeepReadonly<ToInput['spec']>
  readonly metadata?: ConvertedMetadata
} & ConvertedStatus<From, To>

/**
 * Never returned, and declared only for the compiler: while it infers the kind, this type makes it infer a literal type for a literal such
 * as 'Running' in a result, instead of string.
 */
type Literal = { readonly '~never': never; readonly spec: Literals; readonly status: Literals }
type Literals = { readonly [key: string]: Lowercase<string> | 0 | false | Literals | readonly Literals[] }

/**
 * The functions that convert between the stored version (the hub) and one other version (the spoke), in both directions. The objects that
 * they receive are frozen and have the schema's defaults. An integer beyond 2^53, where the schema allows it, is a `bigint`.
 */
export interface VersionConverter<K extends Kind, Version extends string> {
  toHub(
    object: DeepReadonly<Infer<K, Version>>,
    context: ConversionContext,
  ): Awaitable<Converted<Infer<K, Version>, Infer<K>, InferInput<K>>>
  fromHub(
    object: DeepReadonly<Infer<K>>,
    context: ConversionContext,
  ): Awaitable<Converted<Infer<K>, Infer<K, Version>, InferInput<K, Version>>>
}

/** A converter for each version that is not stored. A version with the same fields as the stored version needs none. */
export type VersionConverters<K extends Kind> = { readonly [Version in SpokeOf<K>]?: VersionConverter<K, Version> }

export interface ConversionSettings<K extends Kind> {
  readonly converters: VersionConverters<K>
  /**
   * Default true: fields that a version cannot express are stored in the annotation `conversion.GROUP/VERSION` of the converted object and
   * restored on the way back, so a client that writes the object in another version loses nothing. See `defineConversion` for the rules.
   * False: fields that the converters leave out are lost, and each object is converted once instead of there and back.
   */
  readonly lossless?: boolean
}

const settingsChecks = { converters: isAnObject, lossless: isBoolean } satisfies Record<keyof ConversionSettings<Kind>, OptionCheck>
const checkConversion = hasOptions(settingsChecks, ['converters'])

function refuseConversion(kind: Kind, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_KIND_INVALID', `The conversion of ${groupKindOf(kind)} is not well defined: ${problems.join('; ')}.`)
}

/** One function of a converter, without its static types. */
export type Convert = (object: JsonObject, context: ConversionContext) => unknown

/** A conversion as the server and the manifests need it. */
export interface ConversionDefinition {
  readonly kind: Kind
  readonly lossless: boolean
  /**
   * The converters, keyed by version. Every other version has the same fields as the stored version.
   * @internal
   */
  readonly spokes: ReadonlyMap<string, { readonly toHub: Convert; readonly fromHub: Convert }>
}

/**
 * Defines how a kind's versions are converted. The stored version is the hub: an object is converted from one spoke to another by
 * converting it to the hub first.
 *
 * Converters return spec and status, and optionally changed labels and annotations; all other metadata is copied. They receive whole and
 * incomplete objects (server-side apply converts the fields of one manager), so they must not rely on required fields. An exception fails
 * the whole request; for a list this means that no client can list the kind. Make converters tolerant, and reject invalid objects when they
 * are written, in `validate` of the webhook.
 *
 * Round trips are lossless (unless `lossless` is false). Each result is converted back, and fields that get lost are stored in the
 * annotation `conversion.GROUP/VERSION`, where VERSION is the version that the object was converted from. On the way back a stored field is
 * restored if
 * - the fields derived from it are unchanged: a change in the other version takes precedence;
 * - the schema of the version accepts it: a forged annotation is no way around the schema;
 * - it changes nothing that the other version shows.
 *
 * At most 64 KiB are stored for each version, and no more than the API server allows for all annotations of an object. Fields beyond that
 * are lost, with a warning in the log and a count in `proreus_conversion_unkept_total`.
 *
 * @example
 * const conversions = defineConversion(cronTab, {
 * converters: {
 * v1beta1: {
 * toHub: ({ spec }) => ({ spec: { schedule: parse(spec.cron) } }),
 * fromHub: ({ spec }) => ({ spec: { cron: format(spec.schedule) } }),
 * },
 * },
 * })
 * export const operator = defineOperator({ name: 'crontab', kinds: [cronTab], conversions: [conversions] })
 *
 * @throws {ProreusError} `PRO_KIND_INVALID` when a version has other fields than the stored one and no converter, or when there is a
 * converter for a version that the kind does not have.
 */
export function defineConversion<K extends Kind>(kind: K, settings: ConversionSettings<K>): ConversionDefinition {
  refuseConversion(kind, checkConversion(settings, ''))
  const { converters, lossless = true } = settings
  const spokes = new Map(Object.entries(converters).filter(([, converter]) => converter !== undefined)) as Map<
    string,
    { toHub: Convert; fromHub: Convert }
  >
  const names = kind.versions.filter(({ storage }) => !storage).map(({ name }) => name)
  const problems = [
    ...[...spokes.keys()]
      .filter((name) => !names.includes(name))
      .map((name) =>
        name === kind.version
          ? `${name} is the stored version, to and from which the others are converted`
          : `there is no version ${name}; there are ${names.join(', ') || 'no others than the stored one'}`,
      ),
    ...[...spokes].flatMap(([name, converter]) =>
      (['toHub', 'fromHub'] as const).filter((way) => typeof converter[way] !== 'function').map((way) => `${name} has no ${way}`),
    ),
    ...missingConverters(kind, spokes),
  ]
  refuseConversion(kind, problems)
  return Object.freeze({ kind, lossless, spokes })
}

/** Returns a sentence of advice for each version that has other fields than the stored one and no converter. */
export function missingConverters(kind: Kind, spokes: ReadonlyMap<string, unknown> = new Map()): string[] {
  const hub = kind.versions.find(({ storage }) => storage)!
  return kind.versions.flatMap(({ name, schema }) => {
    if (name === hub.name || spokes.has(name)) return []
    const found = differences(hub.schema, schema)
    if (found.length === 0) return []
    const places = found.length > 3 ? `${found.slice(0, 3).join(', ')}, …` : found.join(', ')
    return [
      `${name} differs from ${hub.name} (${places}): write defineConversion(kind, { converters: { ${name}: { toHub: …, fromHub: … } } })`,
    ]
  })
}
