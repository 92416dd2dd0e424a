/**
 * `Type`: functions that return structural schemas. Each schema has a static type, which is the type of its values.
 *
 * This file declares the static types itself, because the declarations of a schema library are much longer. The TypeScript compiler checks
 * all imported declarations again in each project that imports this package.
 */
import type { BuiltinTypeName, BuiltinTypes } from './builtin-types.ts'
import { withBuiltinType } from './builtin-types.ts'
import type { JsonValue } from './json.ts'
import type { ValidationRule } from './structural-schema.ts'

/** The options that all schemas have. */
export interface SchemaAnnotations {
  readonly description?: string
  readonly example?: JsonValue
  /** CEL rules (`x-kubernetes-validations`). */
  readonly rules?: readonly ValidationRule[]
}
/** The options of a schema whose values can have a default. */
export interface SchemaOptions<Value> extends SchemaAnnotations {
  /**
   * The default, which is filled in when the value is missing. A field with a default is optional when it is written, and always present
   * when it is read.
   */
  readonly default?: Value
}
export interface StringSchemaOptions extends SchemaOptions<string> {
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression in RE2 syntax. A string is valid if the expression matches a part of the string. */
  readonly pattern?: string
  /** The format of the string. Formats that the API server does not validate are ignored. */
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
  /**
   * The list type of server-side apply: `atomic` (the default), `set`, or `map`. In a `map` list, an item is identified by the fields that
   * `listMapKeys` names.
   */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
}
export interface ObjectSchemaOptions extends SchemaOptions<JsonValue> {
  readonly minProperties?: number
  readonly maxProperties?: number
  /** The map type of server-side apply. With `atomic`, a request replaces the map as a whole. Default `granular`. */
  readonly mapType?: 'atomic' | 'granular'
  /** True to preserve fields that the schema does not declare (`x-kubernetes-preserve-unknown-fields`). */
  readonly preserveUnknownFields?: boolean
}

/** A schema. The property `'~value'`, which exists only at compile time, has the static type of the schema's values. */
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
/** A schema whose static type is not derived from its keywords. */
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
/** The schema of a map from strings to values of one schema (`additionalProperties`). */
export interface TMap<Value extends TSchema = TSchema> extends TSchema {
  type: 'object'
  additionalProperties: Value
  readonly '~value'?: Record<string, Static<Value>>
}
/** The schema of a value that may also be null. */
export interface TNullable<Value extends TSchema = TSchema> extends TSchema {
  nullable: true
  readonly '~nullable': Value
  readonly '~value'?: Static<Value> | null
}

/** Marks the schema type of an optional property at compile time. At run time, the symbol `optional` marks the schema. */
export interface OptionalMark {
  readonly '~optional': true
}
export type TOptional<Schema extends TSchema> = Schema & OptionalMark
/** Marks a schema that has a default. The mark exists only at compile time. */
export interface Defaulted {
  readonly '~defaulted': true
}
type WithDefault<Schema, O> = O extends { readonly default: unknown } ? Schema & Defaulted : Schema
/**
 * The type of the parameter `options` of the functions in `Type`. This type is always `Options`, because `[O] extends [never]` is never
 * true. `O` occurs here only so that the compiler infers `O` from the argument. If the parameter had the type `O`, the compiler would
 * accept misspelled options as part of `O`.
 */
type Given<O, Options> = [O] extends [never] ? O : Options

/**
 * The static type of the values that a read returns. Fields with a default are not optional, because a read returns these fields with their
 * defaults.
 */
export type Static<Schema extends TSchema> = Schema extends { readonly '~value'?: infer Value } ? Value : never
type Flat<T> = { [Key in keyof T]: T[Key] }
type StaticObject<Properties extends TProperties> = Flat<
  { -readonly [Key in keyof Properties as Properties[Key] extends OptionalMark ? never : Key]: Static<Properties[Key]> } & {
    -readonly [Key in keyof Properties as Properties[Key] extends OptionalMark ? Key : never]?: Static<Properties[Key]>
  }
>

/** The static type of a schema's values when they are written. Fields with a default are optional. */
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

/** Converts options to keywords of the schema, e.g. `listType` to `x-kubernetes-list-type`. */
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

/** The key that marks the schema of an optional property at run time. A symbol is not serialized, so the CRD does not contain the mark. */
const optional = Symbol('optional')

/**
 * Returns the keywords with the static type `Schema`. The cast is necessary, because the compiler cannot derive this type from the
 * keywords.
 */
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

  /** Returns the schema of a string that is one of `values`. */
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

  /** Returns the schema of an object. A property is required unless it is `Optional` or has a default. */
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

  /** Returns the schema of a map from strings to values of one schema. */
  Record<Value extends TSchema, const O = unknown>(values: Value, options?: Given<O, ObjectSchemaOptions>): WithDefault<TMap<Value>, O> {
    return schemaOf<WithDefault<TMap<Value>, O>>({ type: 'object', additionalProperties: values, ...keywords(options) })
  },

  /** Makes a property of an object optional. */
  Optional<Schema extends TSchema>(schema: Schema): Schema extends Defaulted ? Schema : TOptional<Schema> {
    return (hasDefault(schema) ? schema : { ...schema, [optional]: true }) as Schema extends Defaulted ? Schema : TOptional<Schema>
  },

  /**
   * Returns the schema of a value that may also be null. The API server preserves null. A nullable `Enum` still rejects null, because the
   * API server rejects null for every `enum` of a CRD.
   */
  Nullable<Schema extends TSchema>(schema: Schema): TNullable<Schema> {
    return schemaOf<TNullable<Schema>>({ ...(schema as object), nullable: true, [optional]: false })
  },

  /** Returns the schema of a value that is an integer or a string, e.g. the name or number of a port. */
  IntOrString<const O = unknown>(
    options?: Given<O, SchemaOptions<number | string> & { readonly pattern?: string }>,
  ): WithDefault<TUnsafe<number | string>, O> {
    return schemaOf<WithDefault<TUnsafe<number | string>, O>>({ 'x-kubernetes-int-or-string': true, ...keywords(options) })
  },

  /**
   * Returns the schema of an object whose unknown fields the API server preserves. `T` is the static type of the object. The API server
   * does not check objects against `T`, so the operator must validate them itself. The options `properties` and `required` may describe
   * some of the fields.
   */
  Unknown<T = { [key: string]: unknown }>(
    options: SchemaOptions<JsonValue> & { readonly properties?: Record<string, TSchema>; readonly required?: readonly string[] } = {},
  ): TUnsafe<T> {
    return schemaOf<TUnsafe<T>>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) })
  },

  /**
   * Returns the schema of a built-in type, e.g. `PodTemplateSpec`. To keep the CRD small, the CRD describes the value as an object with any
   * fields. The options `properties` and `required` add fields to the CRD, for validation without a webhook, or for CEL rules.
   *
   * The command `proreus validate` and the kind's webhooks check the value against the description of the built-in type in the API server's
   * OpenAPI documents. The custom resource does not get the defaults of the built-in type. The API server applies these defaults when the
   * operator creates another object with the value, e.g. a Deployment.
   *
   * @example
   * Type.Object({
   *   template: Type.Builtin('PodTemplateSpec'),
   *   resources: Type.Optional(Type.Builtin('ResourceRequirements', { description: 'Of the main container.' })),
   *   env: Type.Optional(Type.Array(Type.Builtin('EnvVar'))),
   * })
   */
  Builtin<Name extends BuiltinTypeName, const O = unknown>(
    name: Name,
    options?: Given<O, BuiltinSchemaOptions<BuiltinTypes[Name]>>,
  ): WithDefault<TUnsafe<BuiltinTypes[Name]>, O> {
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) }
    return schemaOf<WithDefault<TUnsafe<BuiltinTypes[Name]>, O>>(withBuiltinType(schema, name))
  },

  /** Returns the schema of a field whose value is a whole Kubernetes object. */
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
