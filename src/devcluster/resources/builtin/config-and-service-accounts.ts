/** The built-in types ConfigMap, Secret and ServiceAccount. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, required, tooLong } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, integerColumn, nameColumn, numberAsText, textColumn } from '../columns.ts'
import { at, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'

const configMaps = builtinResource({
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  columns: [nameColumn, numberAsText(integerColumn('Data', (object) => sizeAt(object, 'data') + sizeAt(object, 'binaryData'))), ageColumn],
  strategy: {
    validate: (object, old) => [
      ...validateKeys(object, 'data'),
      ...validateKeys(object, 'binaryData'),
      ...Object.keys(mapOf(object, 'data'))
        .filter((key) => Object.hasOwn(mapOf(object, 'binaryData'), key))
        .map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      // kube-apiserver's error about the size has the path `[]`.
      ...validateSize(textSize(object) + bytesSize(object, 'binaryData'), '[]'),
      ...validateImmutable(object, old, ['data', 'binaryData']),
    ],
  },
})

const secrets = builtinResource({
  kind: 'Secret',
  plural: 'secrets',
  columns: [
    nameColumn,
    textColumn('Type', (object) => textAt(object, 'type')),
    numberAsText(integerColumn('Data', (object) => sizeAt(object, 'data'))),
    ageColumn,
  ],
  selectableFields: (object) => ({ type: textAt(object, 'type') }),
  strategy: {
    default: (object) => withDefaults(encodeStringData(object), { type: 'Opaque' }),
    warnings: tlsWarnings,
    validate: (object, old) => [
      ...validateKeys(object, 'data'),
      ...validateSize(bytesSize(object, 'data'), 'data'),
      ...validateType(object),
      ...(old === undefined || object.type === old.type ? [] : [invalid('type', object.type, 'field is immutable')]),
      ...validateImmutable(object, old, ['data']),
    ],
  },
})

const serviceAccounts = builtinResource({
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  columns: [nameColumn, ageColumn],
  strategy: { returnsDeleted: true },
})

export const configResources: readonly ResourceInfo[] = [configMaps, secrets, serviceAccounts]

/** Moves the values of the write-only field `stringData` to `data`, encoded as base64. */
function encodeStringData(secret: JsonObject): JsonObject {
  const { stringData, ...rest } = secret
  if (!isObject(stringData)) return stringData === undefined ? secret : rest
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value ?? '')).toString('base64')] as const)
  return { ...rest, data: { ...(isObject(secret.data) ? secret.data : {}), ...Object.fromEntries(encoded) } }
}

const keyMessage =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

function validateKeys(object: JsonObject, field: string): FieldError[] {
  return Object.keys(mapOf(object, field)).flatMap((key) => {
    if (key === '.' || key === '..') return [invalid(`${field}[${key}]`, key, `must not be '${key}'`)]
    if (key.startsWith('..')) return [invalid(`${field}[${key}]`, key, "must not start with '..'")]
    return /^[-._a-zA-Z0-9]+$/.test(key) ? [] : [invalid(`${field}[${key}]`, key, keyMessage)]
  })
}

function mapOf(object: JsonObject, field: string): JsonObject {
  const map = object[field]
  return isObject(map) ? map : {}
}

/** Maximum size in bytes of the data in a Secret or ConfigMap (k8s.io/api/core/v1: MaxSecretSize). */
const maxBytes = 1024 * 1024

function validateSize(size: number, path: string): FieldError[] {
  return size > maxBytes ? [tooLong(path, maxBytes)] : []
}

function textSize(object: JsonObject): number {
  return Object.values(mapOf(object, 'data')).reduce((sum: number, value) => sum + Buffer.byteLength(String(value)), 0)
}

function bytesSize(object: JsonObject, field: string): number {
  return Object.values(mapOf(object, field)).reduce((sum: number, value) => sum + Buffer.byteLength(String(value), 'base64'), 0)
}

/** The required keys in `data` for some types of Secrets. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
}
const accountAnnotation = 'kubernetes.io/service-account.name'

function validateType(secret: JsonObject): FieldError[] {
  const type = textAt(secret, 'type')
  const keys = Object.hasOwn(requiredKeys, type) ? requiredKeys[type]! : []
  const errors = keys.filter((key) => at(secret, 'data', key) === undefined).map((key) => required(`data[${key}]`))
  if (type === 'kubernetes.io/service-account-token' && textAt(secret, 'metadata', 'annotations', accountAnnotation) === '')
    return [required(`metadata.annotations[${accountAnnotation}]`)]
  if (type === 'kubernetes.io/basic-auth' && ['username', 'password'].every((key) => at(secret, 'data', key) === undefined))
    return [required('data[username]'), required('data[password]')]
  return [...errors, ...keys.filter((key) => key.startsWith('.docker')).flatMap((key) => validateJson(secret, key))]
}

function validateJson(secret: JsonObject, key: string): FieldError[] {
  const encoded = at(secret, 'data', key)
  if (typeof encoded !== 'string') return []
  const refuse = (detail: string): FieldError[] => [invalid(`data[${key}]`, '<secret contents redacted>', detail)]
  const text = Buffer.from(encoded, 'base64').toString()
  try {
    const value = JSON.parse(text) as unknown
    if (typeof value === 'object' && !Array.isArray(value)) return []
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    return refuse(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`)
  } catch {
    const [, open = '', wrong] = /^[\s[]*(\{?)\s*(.)?/s.exec(text)!
    const expected = open === '' ? 'value' : 'object key string'
    return refuse(
      wrong === undefined ? 'unexpected end of JSON input' : `invalid character '${wrong}' looking for beginning of ${expected}`,
    )
  }
}

/**
 * Returns a warning if the certificate or key of a TLS Secret contains no PEM data. Like kube-apiserver, the server accepts such a Secret.
 */
function tlsWarnings(secret: JsonObject): string[] {
  if (secret.type !== 'kubernetes.io/tls') return []
  const [certificate, key] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(textAt(secret, 'data', name), 'base64').toString())
  if (!/-----BEGIN [^-]+-----/.test(certificate!)) return ['tls: failed to find any PEM data in certificate input']
  return /-----BEGIN [^-]+-----/.test(key!) ? [] : ['tls: failed to find any PEM data in key input']
}

function validateImmutable(object: JsonObject, old: JsonObject | undefined, fields: readonly string[]): FieldError[] {
  if (old?.immutable !== true) return []
  const changed = (object.immutable === true ? fields : ['immutable', ...fields]).filter(
    (field) => field === 'immutable' || !jsonEqual(object[field], old[field]),
  )
  return changed.map((field) => forbidden(field, 'field is immutable when `immutable` is set'))
}
