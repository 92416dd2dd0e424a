/**
 * `requestByPortForward`: sends an HTTP request to a port of a Pod through the subresource `portforward`, as with `kubectl port-forward`.
 */
import { WebSocket } from 'ws'
import type { ObjectKey } from '../../../src/api/object.ts'
import type { Connection } from '../../../src/client/connection.ts'

/** The channels of the first port in the request. The first message on each channel contains the number of the port. */
const channels = { data: 0, errors: 1 } as const

/** Sends `GET /`, and resolves with the whole response as text. Rejects when no response arrives. */
export async function requestByPortForward(connection: Connection, { namespace, name }: ObjectKey, port: number): Promise<string> {
  const url = `${connection.server.replace(/^http/, 'ws')}/api/v1/namespaces/${namespace}/pods/${name}/portforward?ports=${port}`
  const authorization = (await connection.authorization?.()) ?? ''
  const socket = new WebSocket(url, ['v4.channel.k8s.io'], {
    headers: { authorization },
    ...(connection.ca !== undefined && { ca: connection.ca }),
  })
  return new Promise((resolve, reject) => {
    let [response, errors] = ['', '']
    let received = 0
    socket.on('open', () => socket.send(Buffer.concat([Buffer.of(channels.data), Buffer.from('GET / HTTP/1.0\r\n\r\n')])))
    socket.on('message', (message: Buffer) => {
      received += 1
      if (received <= 2) return
      const text = message.subarray(1).toString()
      if (message[0] === channels.errors) errors += text
      else response += text
    })
    socket.on('error', reject)
    socket.on('close', () => (response === '' ? reject(new Error(`the Pod has not answered: ${errors}`)) : resolve(response)))
  })
}
