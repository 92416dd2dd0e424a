/** A minimal protobuf encoder that creates input for tests of the decoder. */

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

/**
 * Returns a length-delimited field. The content of the field is the concatenation of `parts`: bytes, a string, or the encoded fields of a
 * message.
 */
export function bytes(number: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content])
}

/** Returns a varint field with an integer or a boolean. */
export function whole(number: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(number << 3), varint(value)])
}

/** Returns a field with a double. */
export function double(number: number, value: number): Buffer {
  const content = Buffer.alloc(8)
  content.writeDoubleLE(value)
  return Buffer.concat([varint((number << 3) | 1), content])
}

/** Returns a protobuf request body with an object that has these fields. */
export function object(apiVersion: string, kind: string, ...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('k8s\0'), bytes(1, bytes(1, apiVersion), bytes(2, kind)), bytes(2, ...fields), bytes(3), bytes(4)])
}
