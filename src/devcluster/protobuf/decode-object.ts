/**
 * Decodes Kubernetes' protobuf format: a prefix of four bytes, and a `runtime.Unknown` message that contains the encoded object
 * (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
 */
import { quote } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { decodeMessage } from './decode-message.ts'
import { isRegistered, messageDescriptor, messageOfKind } from './descriptors.ts'
import { ProtobufError } from './wire-reader.ts'

const magic = Buffer.from('k8s\0')

export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

/** Thrown when apiVersion and kind can be decoded, but the type is not registered or the object is invalid. */
export class UnreadableObject extends ProtobufError {
  readonly type: TypeMeta

  constructor(type: TypeMeta, problem: string) {
    super(problem)
    this.type = type
  }
}

/**
 * Decodes a request body to JSON.
 *
 * @param expected replaces a missing or empty apiVersion or kind of the object.
 * @throws {ProtobufError} when the prefix of the body or the `runtime.Unknown` message is invalid.
 * @throws {UnreadableObject} when the type is not registered, or when the encoded object in the `runtime.Unknown` message is invalid.
 */
export function decodeProtobufObject(body: Buffer, expected: TypeMeta): JsonObject {
  if (body.length === 0) throw new ProtobufError('empty data')
  if (!body.subarray(0, magic.length).equals(magic)) {
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`)
  }
  if (body.length === magic.length) throw new ProtobufError('empty body')
  const unknown = decodeMessage(messageDescriptor('runtime.Unknown'), body.subarray(magic.length)) as Unknown
  const type = { kind: unknown.kind || expected.kind, apiVersion: unknown.apiVersion || expected.apiVersion }
  if (!isRegistered(type.apiVersion, type.kind)) throw new UnreadableObject(type, noSuchKind(type))
  const message = messageOfKind(type.apiVersion, type.kind)
  // Some registered types, such as lists, cannot be the type of a request body. The caller rejects an object of such a type, so the fields
  // of the object are not decoded.
  if (message === undefined) return { ...type }
  try {
    return { ...type, ...decodeMessage(message, Buffer.from(unknown.raw ?? '', 'base64')) }
  } catch (error) {
    throw error instanceof ProtobufError ? new UnreadableObject(type, error.message) : error
  }
}

type Unknown = Partial<Record<'apiVersion' | 'kind' | 'raw', string>>

/** Returns kube-apiserver's error message for a type that is not registered. */
export function noSuchKind({ apiVersion, kind }: TypeMeta): string {
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
}
