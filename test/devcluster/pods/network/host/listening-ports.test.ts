/** Tests of `listeningPorts`, which finds the TCP ports on which servers of this machine can be reached at 127.0.0.1 or ::1. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import t from 'tap'
import { listeningPorts, parseListeningPorts } from '../../../../../src/devcluster/pods/network/host/listening-ports.ts'

t.test('listening sockets that the loopback interface reaches are found', async (t) => {
  const rest = '00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0'
  const sockets = [
    '0100007F:1F90 00000000:0000 0A', // 127.0.0.1:8080
    '00000000:0050 00000000:0000 0A', // 0.0.0.0:80
    '0200A8C0:0051 00000000:0000 0A', // 192.168.0.2:81
    '0100007F:1F91 0100007F:C350 01', // a connection
    '00000000000000000000000000000000:0052 00000000000000000000000000000000:0000 0A', // [::]:82
    '00000000000000000000000001000000:0053 00000000000000000000000000000000:0000 0A', // [::1]:83
    '0000000000000000FFFF00000100007F:0054 00000000000000000000000000000000:0000 0A', // [::ffff:127.0.0.1]:84
    'B80D0120000000000000000001000000:0055 00000000000000000000000000000000:0000 0A', // [2001:db8::1]:85
  ]
  const table = sockets.map((socket, index) => `   ${index}: ${socket} ${rest}`).join('\n')
  t.strictSame(parseListeningPorts(`  sl  local_address rem_address   st tx_queue\n${table}\n`), [80, 82, 83, 84, 8080])
  t.strictSame(parseListeningPorts('\n\u0000garbage : 0A\n'), [])
})

t.test('a server of this process is found', { skip: process.platform !== 'linux' && 'only Linux has the tables' }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.ok((await listeningPorts()).includes((server.address() as AddressInfo).port))
})
