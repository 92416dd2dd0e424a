/** The form in which Kubernetes sends objects in protobuf: four bytes of its own, and `runtime.Unknown` around the object. */
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

/** An object that says what it is, and cannot be read as that. */
export class UnreadableObject extends ProtobufError {
  readonly type: TypeMeta

  constructor(type: TypeMeta, problem: string) {
    super(problem)
    this.type = type
  }
}

/**
 * Decodes the body of a request to the JSON of the object in it.
 *
 * @param expected the type of an object that says nothing about it
 * @throws {ProtobufError} for what is none; {@link UnreadableObject} where the type is known at least.
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
  // A list, or a version that is not served: what is in it does not matter, for it is refused by its type.
  if (message === undefined) return { ...type }
  try {
    return { ...type, ...decodeMessage(message, Buffer.from(unknown.raw ?? '', 'base64')) }
  } catch (error) {
    throw error instanceof ProtobufError ? new UnreadableObject(type, error.message) : error
  }
}

type Unknown = Partial<Record<'apiVersion' | 'kind' | 'raw', string>>

/** What Kubernetes says about types that it does not have. */
export function noSuchKind({ apiVersion, kind }: TypeMeta): string {
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
}
