/** `defineConversion(kind, { converters })`: defines how objects of a kind are converted between its versions. */
import { ProreusError } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import type { Infer, InferInput, Kind, SpokeOf } from '../api/kind.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isBoolean } from '../api/option-checks.ts'
import type { Logger } from '../telemetry/logger.ts'
import { differences } from './compare-versions.ts'

/** The second argument of a converter. */
export interface ConversionContext {
  /** The version from which the object is converted. */
  readonly from: string
  /** The version of the converter's result. */
  readonly to: string
  /** Aborts when the API server no longer waits for the response to the ConversionReview. */
  readonly signal: AbortSignal
  readonly logger: Logger
}

type Awaitable<T> = T | Literal | Promise<T | Literal>

/** The labels and annotations of a converter's result. */
export interface ConvertedMetadata {
  /** All labels of the result. Default: the labels of the object. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** All annotations of the result. Default: the annotations of the object. */
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

type StatusIn<T> = T extends { status?: infer Status } ? NonNullable<Status> : never
/**
 * The type of a result's status. If both versions have the same status type, a converter may omit the status. If the status is omitted, the
 * status of the source object is copied.
 */
type ConvertedStatus<From, To> = [StatusIn<To>] extends [never]
  ? unknown
  : [StatusIn<From>] extends [StatusIn<To>]
    ? { readonly status?: DeepReadonly<StatusIn<To>> | undefined }
    : { readonly status: DeepReadonly<StatusIn<To>> | undefined }

/**
 * A converter's result. In `spec`, fields with a default are optional. If both versions have the same status type, a converter may omit
 * `status`. If `status` is omitted, the status of the source object is copied. `metadata` contains changed labels and annotations; all
 * other metadata is copied.
 */
export type Converted<From, To, ToInput extends { spec?: unknown }> = {
  readonly spec: DeepReadonly<NonNullable<ToInput['spec']>>
  readonly metadata?: ConvertedMetadata
} & ConvertedStatus<From, To>

/**
 * A part of a converter's return type. With this part, TypeScript infers literal types for the literals in a converter's result, e.g. the
 * type `'Running'` instead of `string`. No converter returns a value of the type `Literal`.
 *
 * TypeScript infers the literal type of a string if the expected type contains a type that is narrower than `string`, such as
 * `Lowercase<string>`. The string need not match `Lowercase<string>`. The types of the kind `K` cannot serve as the expected type, because
 * they are unknown while TypeScript infers `K`.
 */
type Literal = { readonly '~never': never; readonly spec: Literals; readonly status: Literals }
type Literals = { readonly [key: string]: Lowercase<string> | 0 | false | Literals | readonly Literals[] }

/**
 * The functions that convert objects from a version (the spoke) to the stored version (the hub), and back. Each function receives a frozen
 * object to which the defaults of the schema have been applied. If the schema allows integers beyond 2^53, the object can contain such an
 * integer as a `bigint`. Smaller integers are always a `number`.
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

/** The converters, by version. A version with the same fields as the stored version needs no converter. */
export type VersionConverters<K extends Kind> = { readonly [Version in SpokeOf<K>]?: VersionConverter<K, Version> }

export interface ConversionSettings<K extends Kind> {
  readonly converters: VersionConverters<K>
  /**
   * Determines what happens to fields that a version cannot express. Default true.
   *
   * - If true, such fields are stored in the annotation `conversion.GROUP/VERSION` of the converted object, and restored when the object is
   *   converted back. See `defineConversion` for the rules.
   * - If false, such fields are lost. Conversions are faster, because the results are not converted back to find such fields.
   */
  readonly lossless?: boolean
}

const settingsChecks = { converters: isAnObject, lossless: isBoolean } satisfies Record<keyof ConversionSettings<Kind>, OptionCheck>
const checkConversion = hasOptions(settingsChecks, ['converters'])

function refuseConversion(kind: Kind, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_KIND_INVALID', `The conversion of ${groupKindOf(kind)} is invalid: ${problems.join('; ')}.`)
}

/** The function `toHub` or `fromHub` of a converter, without static types. */
export type Convert = (object: JsonObject, context: ConversionContext) => unknown

/** A conversion that `defineConversion` returns. The webhook server and the generator of manifests use it. */
export interface ConversionDefinition {
  readonly kind: Kind
  readonly lossless: boolean
  /**
   * The converters, by version. Versions without a converter have the same fields as the stored version.
   * @internal
   */
  readonly spokes: ReadonlyMap<string, { readonly toHub: Convert; readonly fromHub: Convert }>
}

/**
 * Defines how objects are converted between the versions of a kind. The stored version is the hub, and the other versions are spokes.
 * Objects are converted from one spoke to another through the hub.
 *
 * A converter returns spec and status, and optionally changed labels and annotations. All other metadata is copied.
 *
 * Converters should be tolerant. Invalid objects should be rejected when they are written, in `validate` of the webhook. If a converter
 * throws, the consequence depends on the object:
 *
 * - If the object lacks a required field, the result contains the fields that both versions have in common. For server-side apply, the API
 *   server converts such incomplete objects: they contain only the fields of one field manager.
 * - For any other object, the whole request fails. A list request fails even if a converter throws for only one object of the list.
 *
 * By default, round trips are lossless. When an object is converted from VERSION to another version, the result is converted back. Fields
 * that this round trip loses are stored in the annotation `conversion.GROUP/VERSION` of the result. When the object is converted from the
 * other version to VERSION again, a stored field is restored if all these conditions are met:
 *
 * - No client has changed the field in the other version. Such a change takes precedence.
 * - The schema of VERSION accepts the stored value. A user may have forged the annotation.
 * - The restored fields change nothing that clients see in the other version. To check this, the object with the restored fields is
 *   converted back to the other version.
 *
 * If the annotation would exceed 64 KiB, or all annotations of the object together would exceed 256 KiB (the limit of the API server), the
 * annotation is not stored, and the fields are lost. The loss is logged as a warning and counted in `proreus_conversion_unkept_total`.
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
 * @throws {ProreusError} `PRO_KIND_INVALID` when a version has no converter, although its fields differ from those of the stored version,
 *   when a converter is for a version that the kind does not have, or when an option is invalid.
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

/** Returns advice for each version that has no converter, although its fields differ from those of the stored version. */
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
