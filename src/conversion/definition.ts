/** `defineConversion(kind, { converters })`: how objects of a kind are carried from one of its versions to another. */
import { ProreusError } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import type { Infer, InferInput, Kind, SpokeOf } from '../api/kind.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isBoolean } from '../api/option-checks.ts'
import type { Logger } from '../telemetry/logger.ts'
import { differences } from './shape.ts'

/** What is known about the conversion of one object. */
export interface ConversionContext {
  /** The version that the object has. */
  readonly from: string
  /** The version that is asked for. */
  readonly to: string
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  readonly logger: Logger
}

type Awaitable<T> = T | Literal | Promise<T | Literal>

/** Labels and annotations that a converter changes. */
export interface ConvertedMetadata {
  /** Left out: those of the object stay. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Left out: those of the object stay. */
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

type StatusIn<T> = T extends { status?: infer Status } ? NonNullable<Status> : never
/** The status may be left out where it has the same fields in both versions: it then goes along. */
type ConvertedStatus<From, To> = [StatusIn<To>] extends [never]
  ? unknown
  : [StatusIn<From>] extends [StatusIn<To>]
    ? { readonly status?: DeepReadonly<StatusIn<To>> | undefined }
    : { readonly status: DeepReadonly<StatusIn<To>> | undefined }

/**
 * What a converter gives: the spec, where fields with a default may be left out; the status, which goes along as it is when
 * both versions have the same; and labels and annotations if they are to change. All other metadata is the framework's.
 */
export type Converted<From, To, ToInput extends { spec: unknown }> = {
  readonly spec: DeepReadonly<ToInput['spec']>
  readonly metadata?: ConvertedMetadata
} & ConvertedStatus<From, To>

/**
 * Never given, and only here for the compiler: while it still infers the kind, this alone tells it that a literal such as 'Running' in
 * what a converter gives is meant as that literal, and not as any string.
 */
type Literal = { readonly '~never': never; readonly spec: Literals; readonly status: Literals }
type Literals = { readonly [key: string]: Lowercase<string> | 0 | false | Literals | readonly Literals[] }

/**
 * Both ways between the stored version, the hub, and one other, the spoke. Objects are frozen; the schema's defaults are filled in.
 * An integer beyond 2^53, where the schema allows it, is a `bigint`.
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

/** A converter for each version that is not stored. Versions with the fields of the stored one need none. */
export type VersionConverters<K extends Kind> = { readonly [Version in SpokeOf<K>]?: VersionConverter<K, Version> }

export interface ConversionSettings<K extends Kind> {
  readonly converters: VersionConverters<K>
  /**
   * Default true: what a version cannot express is kept in the annotation `conversion.GROUP/VERSION` of the converted object, and comes
   * back on the way back, so that nobody loses fields by writing an object in another version. See `conversion` for the rules.
   * False: what the converters leave out is gone, and each object is converted once instead of there and back.
   */
  readonly lossless?: boolean
}

const settingsChecks = { converters: isAnObject, lossless: isBoolean } satisfies Record<keyof ConversionSettings<Kind>, OptionCheck>
const checkConversion = hasOptions(settingsChecks, ['converters'])

function refuseConversion(kind: Kind, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_KIND_INVALID', `The conversion of ${groupKindOf(kind)} is not well defined: ${problems.join('; ')}.`)
}

/** A converter with its types erased. */
export type Convert = (object: JsonObject, context: ConversionContext) => unknown

/** A conversion as the server and the manifests see it. */
export interface ConversionDefinition {
  readonly kind: Kind
  readonly lossless: boolean
  /**
   * The converters, by version. A version that is neither here nor the stored one has the stored one's fields.
   * @internal
   */
  readonly spokes: ReadonlyMap<string, { readonly toHub: Convert; readonly fromHub: Convert }>
}

/**
 * Defines how a kind's versions are converted. The stored version is the hub: from one spoke to another an object goes through it.
 *
 * Converters write spec and status; of the metadata they may change labels and annotations, the rest is carried over.
 * They see whole objects and parts of such (server-side apply converts what one manager owns), so they should not rely on more
 * than the schema promises. One that throws fails the whole request, which for a list means that nobody can list the kind: convert
 * what can be converted, and refuse the rest where it is written, in `validate` of the webhook.
 *
 * Nothing is lost on a round trip (unless `lossless` is false). Each result is converted back, and what that does not give is kept in the
 * annotation `conversion.GROUP/VERSION`, where VERSION is the version that the object came from. On the way back a kept field is restored
 *  - if what was shown in its place has not been changed: whoever changes it in the other version means that change;
 *  - if the schema of the version accepts it: an annotation that somebody has made up gets nothing past the schema;
 *  - if it changes nothing of what the other version shows.
 * At most 64 KiB are kept for each version, and never more than the API server allows an object's annotations in all. What is beyond is
 * lost, with a warning in the log and in `proreus_conversion_unkept_total`.
 *
 * @example
 * const conversions = defineConversion(cronTab, {
 *   converters: {
 *     v1beta1: {
 *       toHub: ({ spec }) => ({ spec: { schedule: parse(spec.cron) } }),
 *       fromHub: ({ spec }) => ({ spec: { cron: format(spec.schedule) } }),
 *     },
 *   },
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

/** For each version that has other fields than the stored one and no converter, a sentence about what to write. */
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
