/** Tests of the names in `cluster.local`. The expected responses are those of CoreDNS' plugin `kubernetes`. */
import type { RecordType } from 'dns-packet'
import t from 'tap'
import { defaultAddresses } from '../../../../../src/devcluster/pods/network/addresses.ts'
import { ClusterZone } from '../../../../../src/devcluster/pods/network/dns/cluster-zone.ts'
import { answerForHost } from '../../../../../src/devcluster/pods/network/dns/host-zone.ts'
import type { ZoneAnswer } from '../../../../../src/devcluster/pods/network/dns/answer.ts'
import { serviceState } from '../../../../../src/devcluster/pods/network/services/service-state.ts'
import { endpoint, service, slice } from '../support/objects.ts'

const zone = new ClusterZone(defaultAddresses)
const notReady = { conditions: { ready: false, serving: false, terminating: false } }
zone.set(serviceState(service('kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] }), []))
zone.set(
  serviceState(
    service('web', { clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7', 'fd00::7'], ports: [{ name: 'http', port: 80 }, { port: 81 }] }),
    [slice('web', [{ name: 'http', port: 8080 }], [endpoint('10.244.0.8', { hostname: 'web-0' })])],
  ),
)
zone.set(
  serviceState(service('db', { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] }, 'prod'), [
    slice(
      'db',
      [{ name: 'pg', port: 5432 }],
      [endpoint('10.244.0.5', { hostname: 'db-0' }), endpoint('10.244.0.6'), endpoint('10.244.0.7', notReady)],
      'prod',
    ),
  ]),
)
zone.set(serviceState(service('portless', { clusterIP: 'None' }, 'prod'), [slice('portless', [], [endpoint('10.244.0.20')], 'prod')]))
zone.set(serviceState(service('empty', { clusterIP: 'None', ports: [{ port: 80 }] }, 'prod'), []))
zone.set(serviceState(service('out', { type: 'ExternalName', externalName: 'www.example.com.' }, 'prod'), []))
zone.set(serviceState(service('number', { type: 'ExternalName', externalName: '192.0.2.1' }, 'prod'), []))

const noData = ['NOERROR']
const noName = ['NXDOMAIN']

const cases: readonly [string, RecordType, readonly string[]][] = [
  ['kubernetes.default.svc.cluster.local', 'A', ['NOERROR', 'A 10.96.0.1']],
  ['KuberNetes.DEFAULT.svc.Cluster.Local', 'A', ['NOERROR', 'A 10.96.0.1']],
  ['kubernetes.default.svc.cluster.local', 'AAAA', noData],
  ['kubernetes.default.svc.cluster.local', 'MX', noData],
  ['web.default.svc.cluster.local', 'AAAA', ['NOERROR', 'AAAA fd00::7']],
  ['absent.default.svc.cluster.local', 'A', noName],
  ['absent.default.svc.cluster.local', 'AAAA', noName],
  ['web.absent.svc.cluster.local', 'A', noName],
  ['web.default.cluster.local', 'A', noName],
  ['a.b.c.web.default.svc.cluster.local', 'A', noName],
  ['__proto__.default.svc.cluster.local', 'A', noName],
  ['constructor.svc.cluster.local', 'A', noName],
  ['cluster.local', 'A', noData],
  ['cluster.local', 'NS', ['NOERROR', 'NS ns.dns.cluster.local']],
  ['ns.dns.cluster.local', 'A', ['NOERROR', 'A 10.96.0.10']],
  ['svc.cluster.local', 'A', noData],
  ['default.svc.cluster.local', 'A', noData],
  ['absent.svc.cluster.local', 'A', noName],
  ['dns-version.cluster.local', 'TXT', ['NOERROR', 'TXT 1.1.0']],
  ['dns-version.cluster.local', 'A', noData],
  [
    'web.default.svc.cluster.local',
    'SRV',
    ['NOERROR', 'SRV 0 50 80 web.default.svc.cluster.local', 'SRV 0 50 81 web.default.svc.cluster.local', '+A 10.96.7.7', '+AAAA fd00::7'],
  ],
  [
    '_http._tcp.web.default.svc.cluster.local',
    'SRV',
    ['NOERROR', 'SRV 0 100 80 web.default.svc.cluster.local', '+A 10.96.7.7', '+AAAA fd00::7'],
  ],
  ['_http._udp.web.default.svc.cluster.local', 'SRV', noName],
  ['_absent._tcp.web.default.svc.cluster.local', 'SRV', noName],
  ['http.tcp.web.default.svc.cluster.local', 'SRV', noName],
  ['web-0.web.default.svc.cluster.local', 'A', ['NOERROR', 'A 10.244.0.8']],
  ['db.prod.svc.cluster.local', 'A', ['NOERROR', 'A 10.244.0.5', 'A 10.244.0.6']],
  ['db.prod.svc.cluster.local', 'AAAA', noData],
  ['db-0.db.prod.svc.cluster.local', 'A', ['NOERROR', 'A 10.244.0.5']],
  ['10-244-0-6.db.prod.svc.cluster.local', 'A', ['NOERROR', 'A 10.244.0.6']],
  ['10-244-0-7.db.prod.svc.cluster.local', 'A', noName],
  ['db-1.db.prod.svc.cluster.local', 'A', noName],
  [
    '_pg._tcp.db.prod.svc.cluster.local',
    'SRV',
    [
      'NOERROR',
      'SRV 0 50 5432 db-0.db.prod.svc.cluster.local',
      'SRV 0 50 5432 10-244-0-6.db.prod.svc.cluster.local',
      '+A 10.244.0.5',
      '+A 10.244.0.6',
    ],
  ],
  ['portless.prod.svc.cluster.local', 'A', ['NOERROR', 'A 10.244.0.20']],
  ['portless.prod.svc.cluster.local', 'SRV', noData],
  ['empty.prod.svc.cluster.local', 'A', noName],
  ['out.prod.svc.cluster.local', 'A', ['NOERROR', 'CNAME www.example.com', '-> www.example.com']],
  ['out.prod.svc.cluster.local', 'CNAME', ['NOERROR', 'CNAME www.example.com']],
  ['out.prod.svc.cluster.local', 'SRV', noData],
  ['pod.out.prod.svc.cluster.local', 'A', noName],
  ['number.prod.svc.cluster.local', 'A', noName],
  ['10-244-0-5.any.pod.cluster.local', 'A', ['NOERROR', 'A 10.244.0.5']],
  ['fd00--5.any.pod.cluster.local', 'AAAA', ['NOERROR', 'AAAA fd00::5']],
  ['10-244-0-5.any.pod.cluster.local', 'AAAA', noData],
  ['10-244-0-999.any.pod.cluster.local', 'A', noName],
  ['x.10-244-0-5.any.pod.cluster.local', 'A', noName],
  ['any.pod.cluster.local', 'A', noData],
  ['1.0.96.10.in-addr.arpa', 'PTR', ['NOERROR', 'PTR kubernetes.default.svc.cluster.local']],
  ['1.0.96.10.in-addr.arpa', 'A', noData],
  ['5.0.244.10.in-addr.arpa', 'PTR', ['NOERROR', 'PTR db-0.db.prod.svc.cluster.local']],
  ['7.0.244.10.in-addr.arpa', 'PTR', noName],
  ['9.9.244.10.in-addr.arpa', 'PTR', noName],
  ['1.2.0.192.in-addr.arpa', 'PTR', ['outside']],
  ['10.in-addr.arpa', 'PTR', ['outside']],
  ['www.example.com', 'A', ['outside']],
  ['evilcluster.local', 'A', ['outside']],
]

function text(answer: ZoneAnswer | undefined): string[] {
  if (answer === undefined) return ['outside']
  const { code, records, additionals = [], authorities = [], alias } = answer
  const isNegative = records.length === 0
  t.equal(authorities.length, isNegative ? 1 : 0, 'a SOA record in negative answers only')
  const format = (mark: string) => (record: (typeof records)[number]) => {
    const data = 'data' in record ? record.data : undefined
    const values = record.type === 'SRV' ? [record.data.priority, record.data.weight, record.data.port, record.data.target] : [data]
    return `${mark}${record.type} ${values.join(' ')}`
  }
  return [code, ...records.map(format('')), ...additionals.map(format('+')), ...(alias === undefined ? [] : [`-> ${alias}`])]
}

for (const [name, type, expected] of cases)
  t.test(`${name} ${type}`, async (t) => {
    const answer = zone.answer(name, type)
    t.strictSame(text(answer), expected)
    t.ok(answer?.records.every((record) => record.name === name) ?? true, 'the records have the name of the question')
  })

t.test('a removed Service leaves no name', async (t) => {
  const zone = new ClusterZone(defaultAddresses)
  const web = serviceState(service('web', { clusterIP: '10.96.7.7', ports: [{ port: 80 }] }), [])
  zone.set(web)
  zone.set(web)
  zone.set(serviceState(service('other', { clusterIP: '10.96.7.8', ports: [{ port: 80 }] }), []))
  zone.remove('default/other')
  t.equal(zone.answer('default.svc.cluster.local', 'A')!.code, 'NOERROR', 'the namespace has another Service')
  zone.remove('default/web')
  for (const name of ['web.default.svc.cluster.local', 'default.svc.cluster.local']) t.equal(zone.answer(name, 'A')!.code, 'NXDOMAIN')
  t.equal(zone.answer('7.7.96.10.in-addr.arpa', 'PTR')!.code, 'NXDOMAIN')
})

t.test("the developer's machine has a name while Pods may reach it", async (t) => {
  t.strictSame(text(answerForHost('10.96.0.2', 'host.proreus.internal', 'A')), ['NOERROR', 'A 10.96.0.2'])
  t.strictSame(text(answerForHost('10.96.0.2', 'host.proreus.internal', 'AAAA')), noData)
  t.strictSame(text(answerForHost('10.96.0.2', 'other.proreus.internal', 'A')), noName)
  t.strictSame(text(answerForHost(undefined, 'host.proreus.internal', 'A')), noName)
  t.equal(answerForHost('10.96.0.2', 'example.com', 'A'), undefined)
})
