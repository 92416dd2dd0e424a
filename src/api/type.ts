/**
 * `Type`: TypeBox, restricted to what a structural schema can say.
 * Each function gives a plain JSON schema that also carries the static type of the values it describes.
 */
import * as TypeBox from 'typebox'
import type { Static, TArray, TBoolean, TInteger, TNumber, TObject, TOptional, TProperties, TSchema, TString, TUnsafe } from 'typebox'
import type { BuiltinTypeName, BuiltinTypes } from './builtin-types.ts'
import { withBuiltinType } from './builtin-types.ts'
import type { JsonValue } from './json.ts'
import type { ValidationRule } from './structural-schema.ts'

/** What may be said of any schema. */
export interface SchemaAnnotations {
  readonly description?: string
  readonly example?: JsonValue
  /** CEL rules, `x-kubernetes-validations`. */
  readonly rules?: readonly ValidationRule[]
}
/** What may be said of a schema whose values can have a default. */
export interface SchemaOptions<Value> extends SchemaAnnotations {
  /** Filled in where the value is missing; the field is then optional to write and always there to read. */
  readonly default?: Value
}
export interface StringSchemaOptions extends SchemaOptions<string> {
  readonly minLength?: number
  readonly maxLength?: number
  /** RE2 syntax, unanchored. */
  readonly pattern?: string
  /** One of the formats that the API server checks; others are not checked. */
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
  /** How items are identified: `atomic` (default), `set`, or `map` by `listMapKeys`. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
}
export interface ObjectSchemaOptions extends SchemaOptions<JsonValue> {
  readonly minProperties?: number
  readonly maxProperties?: number
  /** `atomic`: replaced as a whole by server-side apply. */
  readonly mapType?: 'atomic' | 'granular'
  /** Keeps fields that the schema does not name. */
  readonly preserveUnknownFields?: boolean
}

/** Marks, for the compiler alone, a schema with a default. */
export interface Defaulted {
  readonly '~defaulted': true
}
type WithDefault<Schema, O> = O extends { readonly default: unknown } ? Schema & Defaulted : Schema

/** A map from string to values of one schema: `additionalProperties`. */
export interface TMap<Value extends TSchema> extends TUnsafe<Record<string, Static<Value>>> {
  type: 'object'
  additionalProperties: Value
}
/** A value that may also be null. */
export interface TNullable<Value extends TSchema> extends TUnsafe<Static<Value> | null> {
  '~nullable': Value
  nullable: true
}

/** The static type of what a user may write: fields with a default may be left out. */
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

type WritableOptional<Properties extends TProperties> = {
  [Key in keyof Properties]: Properties[Key] extends Defaulted | TOptional ? Key : never
}[keyof Properties]
type ObjectInputOf<Properties extends TProperties> = {
  [Key in Exclude<keyof Properties, WritableOptional<Properties>>]: StaticInput<Properties[Key]>
} & { [Key in WritableOptional<Properties>]?: StaticInput<Properties[Key]> }

type Extensions = Record<string, unknown>

/** Options in our names → keywords of the schema. */
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

export const Type = {
  String<const O extends StringSchemaOptions>(options?: O): WithDefault<TString, O> {
    return TypeBox.String(keywords(options)) as WithDefault<TString, O>
  },

  Integer<const O extends NumberSchemaOptions>(options?: O): WithDefault<TInteger, O> {
    return numeric('integer', options) as WithDefault<TInteger, O>
  },

  Number<const O extends NumberSchemaOptions>(options?: O): WithDefault<TNumber, O> {
    return numeric('number', options) as WithDefault<TNumber, O>
  },

  Boolean<const O extends SchemaOptions<boolean>>(options?: O): WithDefault<TBoolean, O> {
    return TypeBox.Boolean(keywords(options)) as WithDefault<TBoolean, O>
  },

  /** One of the given strings. */
  Enum<const Values extends readonly string[], const O extends SchemaOptions<Values[number]>>(
    values: Values,
    options?: O,
  ): WithDefault<TUnsafe<Values[number]>, O> {
    return TypeBox.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...keywords(options) }) as WithDefault<
      TUnsafe<Values[number]>,
      O
    >
  },

  Array<Item extends TSchema, const O extends ArraySchemaOptions<StaticInput<Item>>>(
    items: Item,
    options?: O,
  ): WithDefault<TArray<Item>, O> {
    return TypeBox.Array(items, keywords(options)) as WithDefault<TArray<Item>, O>
  },

  /** An object; a property is required unless it is `Optional` or has a default. */
  Object<Properties extends TProperties, const O extends ObjectSchemaOptions>(
    properties: Properties,
    options?: O,
  ): WithDefault<TObject<Properties>, O> {
    const schema = TypeBox.Object(properties, keywords(options)) as unknown as { required?: string[] }
    const required = schema.required?.filter((name) => !hasDefault(properties[name]))
    if (required === undefined || required.length === 0) delete schema.required
    else schema.required = required
    return schema as unknown as WithDefault<TObject<Properties>, O>
  },

  /** A map from string to values of one schema. */
  Record<Value extends TSchema, const O extends ObjectSchemaOptions>(values: Value, options?: O): WithDefault<TMap<Value>, O> {
    return TypeBox.Unsafe({ type: 'object', additionalProperties: values, ...keywords(options) }) as unknown as WithDefault<TMap<Value>, O>
  },

  /** A field that may be left out. */
  Optional<Schema extends TSchema>(schema: Schema): Schema extends Defaulted ? Schema : TOptional<Schema> {
    return (hasDefault(schema) ? schema : TypeBox.Optional(schema)) as Schema extends Defaulted ? Schema : TOptional<Schema>
  },

  /** A value that may also be null, which then is kept. */
  Nullable<Schema extends TSchema>(schema: Schema): TNullable<Schema> {
    return TypeBox.Unsafe({ ...schema, nullable: true }) as unknown as TNullable<Schema>
  },

  /** A number or a string, e.g. a port name or a percentage. */
  IntOrString<const O extends SchemaOptions<number | string> & { readonly pattern?: string }>(
    options?: O,
  ): WithDefault<TUnsafe<number | string>, O> {
    return TypeBox.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, ...keywords(options) }) as WithDefault<
      TUnsafe<number | string>,
      O
    >
  },

  /**
   * An object whose fields the CRD does not describe and the API server keeps as they are.
   * `T` is the static type that the operator's own validation vouches for; `schema` may describe some of the fields.
   */
  Unknown<T = { [key: string]: unknown }>(
    options: SchemaOptions<JsonValue> & { readonly properties?: Record<string, TSchema>; readonly required?: readonly string[] } = {},
  ): TUnsafe<T> {
    return TypeBox.Unsafe<T>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) })
  },

  /**
   * One of Kubernetes' own types, by its name. The CRD only says that there is an object, and stays small; the webhook and
   * `proreus validate` check it in full against the type as the API server describes it. Values stay as they are written: the defaults
   * of such a type are filled in where the object that is made of it is created.
   * `properties` and `required` describe some fields in the CRD, too, for what should hold without a webhook, or for rules.
   *
   * @example
   * Type.Object({
   *   template: Type.Builtin('PodTemplateSpec'),
   *   resources: Type.Optional(Type.Builtin('ResourceRequirements', { description: 'Of the main container.' })),
   *   env: Type.Optional(Type.Array(Type.Builtin('EnvVar'))),
   * })
   */
  Builtin<Name extends BuiltinTypeName, const O extends BuiltinSchemaOptions<BuiltinTypes[Name]>>(
    name: Name,
    options?: O,
  ): WithDefault<TUnsafe<BuiltinTypes[Name]>, O> {
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) }
    return TypeBox.Unsafe<BuiltinTypes[Name]>(withBuiltinType(schema, name)) as WithDefault<TUnsafe<BuiltinTypes[Name]>, O>
  },

  /** A whole Kubernetes object inside a field. */
  EmbeddedResource<T = { apiVersion: string; kind: string; metadata?: object }>(options: SchemaAnnotations = {}): TUnsafe<T> {
    return TypeBox.Unsafe<T>({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      ...keywords(options),
    })
  },
} as const

function numeric(type: 'integer' | 'number', options: NumberSchemaOptions | undefined): TSchema {
  const build = type === 'integer' ? TypeBox.Integer : TypeBox.Number
  // TypeBox speaks of exclusive bounds as numbers, structural schemas as booleans: the keywords go in unread.
  return build(keywords(options) as Parameters<typeof build>[0])
}

function hasDefault(schema: TSchema | undefined): boolean {
  return (schema as { default?: unknown } | undefined)?.default !== undefined
}

export type { Static, TArray, TBoolean, TInteger, TNumber, TObject, TOptional, TProperties, TSchema, TString, TUnsafe }
