/**
 * The client's end of a tunnel in a WebSocket. The library `ws` refuses the subprotocol `SPDY/3.1+portforward.k8s.io`, which kubectl sends, so
 * the frames are encoded here (RFC 6455, section 5.2).
 */
import { Duplex } from 'node:stream'
import { ByteReader } from '../../../src/devcluster/http/streams/spdy/byte-reader.ts'

const opcode = { text: 1, binary: 2, close: 8 } as const

/** Returns a WebSocket message as a client sends it. The masking key of the message is zero, so masking does not change the bytes. */
export function message(bytes: Buffer, code: number = opcode.binary): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x80 | code
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(bytes.length), 2)
  return Buffer.concat([head, bytes])
}

export function textMessage(text: string): Buffer {
  return message(Buffer.from(text), opcode.text)
}

/** Returns a stream of the bytes in the tunnel. */
export function tunnelOver(socket: Duplex): Duplex {
  const tunnel = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, callback) => void socket.write(message(bytes), callback),
    destroy(error, callback) {
      socket.destroy()
      callback(error)
    },
  })
  const read = async (): Promise<void> => {
    const reader = new ByteReader(socket as AsyncIterable<Buffer>)
    for (;;) {
      const head = await reader.exactly(2)
      if (head === undefined) return
      const [first = 0, short = 0] = head
      const longer = short < 126 ? Buffer.of(short) : await reader.exactly(short === 126 ? 2 : 8)
      const bytes = await reader.exactly(longer === undefined ? 0 : Number(`0x${longer.toString('hex')}`))
      if ((first & 0xf) === opcode.close) return
      if ((first & 0xf) === opcode.binary) tunnel.push(bytes)
    }
  }
  socket.on('error', () => undefined)
  read()
    .catch(() => undefined)
    .finally(() => tunnel.destroy())
  return tunnel
}
