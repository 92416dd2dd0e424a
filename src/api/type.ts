/**
 * `Type`: constructors of JSON schemas within the limits of structural schemas, which carry the static type of their values. The types are
 * declared here rather than imported from a library of schemas, because every program that imports this package has them type-checked.
 */
import type { BuiltinTypeName, BuiltinTypes } from './builtin-types.ts'
import { withBuiltinType } from './builtin-types.ts'
import type { JsonValue } from './json.ts'
import type { ValidationRule } from './structural-schema.ts'

/** Options of every schema. */
export interface SchemaAnnotations {
  readonly description?: string
  readonly example?: JsonValue
  /** CEL rules, `x-kubernetes-validations`. */
  readonly rules?: readonly ValidationRule[]
}
/** Options of a schema whose values can have a default. */
export interface SchemaOptions<Value> extends SchemaAnnotations {
  /**
   * The default, which is applied when the value is missing. A field with a default is optional when written, and always present when read.
   */
  readonly default?: Value
}
export interface StringSchemaOptions extends SchemaOptions<string> {
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression in RE2 syntax, which need not match the whole string. */
  readonly pattern?: string
  /** One of the formats that the API server validates; others are ignored. */
  readonly format?: string
}
export interface NumberSchemaOptions extends SchemaOptions<number> {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly format?: 'int32' | 'int64' | 'float' | 'double'
}
export interface BuiltinSchemaOptions<Value> extends SchemaOptions<Value> {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}
export interface ArraySchemaOptions<Item> extends SchemaOptions<readonly Item[]> {
  readonly minItems?: number
  readonly maxItems?: number
  /** How items are identified: `atomic` (default), `set`, or `map` with the keys `listMapKeys`. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
}
export interface ObjectSchemaOptions extends SchemaOptions<JsonValue> {
  readonly minProperties?: number
  readonly maxProperties?: number
  /** With `atomic`, server-side apply replaces the map as a whole. */
  readonly mapType?: 'atomic' | 'granular'
  /** True to preserve fields that the schema does not declare. */
  readonly preserveUnknownFields?: boolean
}

/** A schema. `'~value'`, the type of the values, exists only for the compiler. */
export interface TSchema {
  readonly '~value'?: unknown
}
export interface TString extends TSchema {
  type: 'string'
  readonly '~value'?: string
}
export interface TInteger extends TSchema {
  type: 'integer'
  readonly '~value'?: number
}
export interface TNumber extends TSchema {
  type: 'number'
  readonly '~value'?: number
}
export interface TBoolean extends TSchema {
  type: 'boolean'
  readonly '~value'?: boolean
}
/** A schema with a static type that is not derived from its keywords. */
export interface TUnsafe<Value> extends TSchema {
  readonly '~value'?: Value
}
export interface TArray<Item extends TSchema = TSchema> extends TSchema {
  type: 'array'
  items: Item
  readonly '~value'?: Static<Item>[]
}
export type TProperties = Readonly<Record<string, TSchema>>
export interface TObject<Properties extends TProperties = TProperties> extends TSchema {
  type: 'object'
  properties: Properties
  readonly '~value'?: StaticObject<Properties>
}
/** A map from string to values of one schema: `additionalProperties`. */
export interface TMap<Value extends TSchema = TSchema> extends TSchema {
  type: 'object'
  additionalProperties: Value
  readonly '~value'?: Record<string, Static<Value>>
}
/** A value that may also be null. */
export interface TNullable<Value extends TSchema = TSchema> extends TSchema {
  nullable: true
  readonly '~nullable': Value
  readonly '~value'?: Static<Value> | null
}

/** Marks an optional property. The mark exists only for the compiler. */
export interface OptionalMark {
  readonly '~optional': true
}
export type TOptional<Schema extends TSchema> = Schema & OptionalMark
/** Marks a schema with a default. The mark exists only for the compiler. */
export interface Defaulted {
  readonly '~defaulted': true
}
type WithDefault<Schema, O> = O extends { readonly default: unknown } ? Schema & Defaulted : Schema
/**
 * The parameter type of schema options. The compiler infers `O` from the branch that is never taken, and compares the argument only with
 * `Options`. If the parameter were of type `O`, a misspelled option would be part of `O`, and no error would be reported.
 */
type Given<O, Options> = [O] extends [never] ? O : Options

/** The static type of the values of a schema, with defaults. */
export type Static<Schema extends TSchema> = Schema extends { readonly '~value'?: infer Value } ? Value : never
type Flat<T> = { [Key in keyof T]: T[Key] }
type StaticObject<Properties extends TProperties> = Flat<
  { -readonly [Key in keyof Properties as Properties[Key] extends OptionalMark ? never : Key]: Static<Properties[Key]> } & {
    -readonly [Key in keyof Properties as Properties[Key] extends OptionalMark ? Key : never]?: Static<Properties[Key]>
  }
>

/** The static type of values as written: fields with a default are optional. */
export type StaticInput<Schema extends TSchema> =
  Schema extends TObject<infer Properties>
    ? ObjectInputOf<Properties>
    : Schema extends TArray<infer Item>
      ? StaticInput<Item>[]
      : Schema extends TMap<infer Value>
        ? Record<string, StaticInput<Value>>
        : Schema extends TNullable<infer Value>
          ? StaticInput<Value> | null
          : Static<Schema>

type ObjectInputOf<Properties extends TProperties> = Flat<
  {
    -readonly [Key in keyof Properties as Properties[Key] extends Defaulted | OptionalMark ? never : Key]: StaticInput<Properties[Key]>
  } & {
    -readonly [Key in keyof Properties as Properties[Key] extends Defaulted | OptionalMark ? Key : never]?: StaticInput<Properties[Key]>
  }
>

type Extensions = Record<string | symbol, unknown>

/** Converts the options of this package to keywords of the schema. */
function keywords(options: object = {}): Extensions {
  const { rules, listType, listMapKeys, mapType, preserveUnknownFields, ...rest } = options as Extensions
  return {
    ...rest,
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }),
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(listMapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': listMapKeys }),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    ...(preserveUnknownFields === true ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
  }
}

/** The key that marks an optional property. It is a symbol, which is not serialized. */
const optional = Symbol('optional')

/** Returns a schema with a static type that is not visible in its keywords. */
function schemaOf<Schema extends TSchema>(keywordsOfIt: Extensions): Schema {
  return keywordsOfIt as unknown as Schema
}

export const Type = {
  String<const O = unknown>(options?: Given<O, StringSchemaOptions>): WithDefault<TString, O> {
    return schemaOf<WithDefault<TString, O>>({ type: 'string', ...keywords(options) })
  },

  Integer<const O = unknown>(options?: Given<O, NumberSchemaOptions>): WithDefault<TInteger, O> {
    return schemaOf<WithDefault<TInteger, O>>({ type: 'integer', ...keywords(options) })
  },

  Number<const O = unknown>(options?: Given<O, NumberSchemaOptions>): WithDefault<TNumber, O> {
    return schemaOf<WithDefault<TNumber, O>>({ type: 'number', ...keywords(options) })
  },

  Boolean<const O = unknown>(options?: Given<O, SchemaOptions<boolean>>): WithDefault<TBoolean, O> {
    return schemaOf<WithDefault<TBoolean, O>>({ type: 'boolean', ...keywords(options) })
  },

  /** One of the given strings. */
  Enum<const Values extends readonly string[], const O = unknown>(
    values: Values,
    options?: Given<O, SchemaOptions<Values[number]>>,
  ): WithDefault<TUnsafe<Values[number]>, O> {
    return schemaOf<WithDefault<TUnsafe<Values[number]>, O>>({ type: 'string', enum: [...values], ...keywords(options) })
  },

  Array<Item extends TSchema, const O = unknown>(
    items: Item,
    options?: Given<O, ArraySchemaOptions<StaticInput<Item>>>,
  ): WithDefault<TArray<Item>, O> {
    return schemaOf<WithDefault<TArray<Item>, O>>({ type: 'array', items, ...keywords(options) })
  },

  /** An object; a property is required unless it is `Optional` or has a default. */
  Object<Properties extends TProperties, const O = unknown>(
    properties: Properties,
    options?: Given<O, ObjectSchemaOptions>,
  ): WithDefault<TObject<Properties>, O> {
    const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!) && !hasDefault(properties[name]!))
    return schemaOf<WithDefault<TObject<Properties>, O>>({
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      properties,
      ...keywords(options),
    })
  },

  /** A map from string to values of one schema. */
  Record<Value extends TSchema, const O = unknown>(values: Value, options?: Given<O, ObjectSchemaOptions>): WithDefault<TMap<Value>, O> {
    return schemaOf<WithDefault<TMap<Value>, O>>({ type: 'object', additionalProperties: values, ...keywords(options) })
  },

  /** An optional field. */
  Optional<Schema extends TSchema>(schema: Schema): Schema extends Defaulted ? Schema : TOptional<Schema> {
    return (hasDefault(schema) ? schema : { ...schema, [optional]: true }) as Schema extends Defaulted ? Schema : TOptional<Schema>
  },

  /** A value that may also be null; null is preserved. */
  Nullable<Schema extends TSchema>(schema: Schema): TNullable<Schema> {
    return schemaOf<TNullable<Schema>>({ ...(schema as object), nullable: true, [optional]: false })
  },

  /** A number or a string, e.g. a port name or a percentage. */
  IntOrString<const O = unknown>(
    options?: Given<O, SchemaOptions<number | string> & { readonly pattern?: string }>,
  ): WithDefault<TUnsafe<number | string>, O> {
    return schemaOf<WithDefault<TUnsafe<number | string>, O>>({ 'x-kubernetes-int-or-string': true, ...keywords(options) })
  },

  /**
   * An object whose fields the CRD does not describe and the API server preserves. `T` is the static type, which the operator's own
   * validation must ensure; `schema` may describe some of the fields.
   */
  Unknown<T = { [key: string]: unknown }>(
    options: SchemaOptions<JsonValue> & { readonly properties?: Record<string, TSchema>; readonly required?: readonly string[] } = {},
  ): TUnsafe<T> {
    return schemaOf<TUnsafe<T>>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) })
  },

  /**
   * One of Kubernetes' own types, by its name. The CRD describes it only as an object, and stays small; the webhook and `proreus validate`
   * validate the value in full against the type in the API server's OpenAPI documents. No defaults of that type are applied; they are
   * applied when the operator creates the object. `properties` and `required` describe some fields in the CRD, too, for validation without
   * a webhook, or for rules.
   *
   * @example
   * Type.Object({
   * template: Type.Builtin('PodTemplateSpec'),
   * resources: Type.Optional(Type.Builtin('ResourceRequirements', { description: 'Of the main container.' })),
   * env: Type.Optional(Type.Array(Type.Builtin('EnvVar'))),
   * })
   */
  Builtin<Name extends BuiltinTypeName, const O = unknown>(
    name: Name,
    options?: Given<O, BuiltinSchemaOptions<BuiltinTypes[Name]>>,
  ): WithDefault<TUnsafe<BuiltinTypes[Name]>, O> {
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) }
    return schemaOf<WithDefault<TUnsafe<BuiltinTypes[Name]>, O>>(withBuiltinType(schema, name))
  },

  /** A whole Kubernetes object as the value of a field. */
  EmbeddedResource<T = { apiVersion: string; kind: string; metadata?: object }>(options: SchemaAnnotations = {}): TUnsafe<T> {
    return schemaOf<TUnsafe<T>>({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      ...keywords(options),
    })
  },
} as const

function hasDefault(schema: TSchema): boolean {
  return (schema as { default?: unknown }).default !== undefined
}

function isOptional(schema: TSchema): boolean {
  return (schema as { [optional]?: boolean })[optional] === true
}
