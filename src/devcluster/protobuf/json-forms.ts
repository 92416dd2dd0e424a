/** Messages whose Go type has a `MarshalJSON` method. Their JSON therefore differs from their protobuf fields. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { scanJson } from '../apimachinery/duplicate-keys.ts'
import { invalidQuantity, parseQuantity } from '../apimachinery/quantity.ts'
import { ProtobufError } from './wire-reader.ts'

/** Returns the JSON of a message. `fields` contains the decoded fields of the message. */
export type JsonForm = (fields: JsonObject) => JsonValue

const list: JsonForm = ({ items = [] }) => items

export const jsonForms: ReadonlyMap<string, JsonForm> = new Map<string, JsonForm>([
  ['apiextensions.v1.JSON', ({ raw }) => embedded(raw)],
  ['apiextensions.v1.JSONSchemaPropsOrArray', ({ schema, jSONSchemas }) => jSONSchemas ?? schema ?? null],
  ['apiextensions.v1.JSONSchemaPropsOrBool', ({ schema, allows = false }) => schema ?? allows],
  ['apiextensions.v1.JSONSchemaPropsOrStringArray', ({ schema, property }) => property ?? schema ?? null],
  ['authentication.v1.ExtraValue', list],
  ['authorization.v1.ExtraValue', list],
  ['certificates.v1.ExtraValue', list],
  ['intstr.IntOrString', intOrString],
  ['meta.v1.FieldsV1', ({ Raw }) => embedded(Raw)],
  ['meta.v1.MicroTime', (fields) => time(fields, true)],
  ['meta.v1.Time', (fields) => time(fields, false)],
  ['resource.Quantity', ({ string = '0' }) => quantity(string)],
  ['runtime.RawExtension', ({ raw }) => embedded(raw)],
])

/** Parses the JSON that a `bytes` field contains. `bytes` is the content of the field as base64. */
function embedded(bytes: JsonValue | undefined): JsonValue {
  if (typeof bytes !== 'string' || bytes === '') return null
  const text = Buffer.from(bytes, 'base64').toString('utf8')
  const { error } = scanJson(text)
  if (error !== undefined) throw new ProtobufError(`failed to parse bytes as JSON: ${error}`)
  return JSON.parse(text) as JsonValue
}

function intOrString({ type = 0, intVal = 0, strVal = '' }: JsonObject): JsonValue {
  if (type !== 0 && type !== 1) throw new ProtobufError('impossible IntOrString.Type')
  return type === 0 ? intVal : strVal
}

function quantity(text: JsonValue): JsonValue {
  if (parseQuantity(text) === undefined) throw new ProtobufError(invalidQuantity)
  return text
}

/** Go's zero time, the start of the year 1, in seconds since 1970. `lastSecond` is the end of the year 9999. */
const zeroSeconds = -62_135_596_800
const lastSecond = 253_402_300_799

/** Formats a time as RFC 3339 in UTC. If `withMicros` is true, the result has six fractional digits. */
function time({ seconds, nanos }: JsonObject, withMicros: boolean): JsonValue {
  // A time that is not set is encoded as a message without fields.
  if (seconds === undefined && nanos === undefined) return null
  const micros = withMicros ? Math.trunc(Number(nanos ?? 0) / 1000) : 0
  const whole = Number(seconds ?? 0) + Math.floor(micros / 1e6)
  const fraction = micros - Math.floor(micros / 1e6) * 1e6
  if (whole === zeroSeconds && fraction === 0) return null
  if (whole < zeroSeconds || whole > lastSecond) throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]')
  const text = new Date(whole * 1000).toISOString().slice(0, 19)
  return withMicros ? `${text}.${String(fraction).padStart(6, '0')}Z` : `${text}Z`
}
