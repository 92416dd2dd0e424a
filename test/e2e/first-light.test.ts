/** The transcript of the README, and everything that kubectl does with custom resources on the embedded API server. */
import t from 'tap'
import { startDev } from '../support/dev.ts'
import { needsKubectl, until } from '../support/process.ts'

const sample = 'config/samples/mypod.yaml'
const ns = '-n test-mypod'

/** A valid MyPod with the given name. */
const manifest = (name: string, extra = ''): string => `
apiVersion: harryyann.github.io/v1
kind: MyPod
metadata:
  name: ${name}
  namespace: test-mypod
spec:
  podSpec:
    containers:
    - name: main
      image: example.com/pause:1
${extra}`

t.test('kubectl on the embedded API server', needsKubectl, async (t) => {
  const { kubectl, ok } = await startDev(t)

  t.test('the transcript of the README', async (t) => {
    t.equal(await ok(`create -f ${sample}`), 'mypod.harryyann.github.io/mypod-sample created\n')
    await ok(`wait mypod/mypod-sample ${ns} --for=condition=Ready --timeout=10s`)
    const wide = (await ok('get mypods -A -o wide')).split('\n')
    t.match(wide[0], /^NAMESPACE +NAME +PHASE +PODIP +NODEIP +AGE$/)
    t.match(wide[1], /^test-mypod +mypod-sample +Running +10\.244\.\d+\.\d+ +[\d.]+ +\d+s$/)
    const pods = await ok('get pods -A')
    t.match(pods, /^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\ntest-mypod +mypod-sample +1\/1 +Running +0 +\d+s\n$/)
    const pod = JSON.parse(await ok(`get pod mypod-sample ${ns} -o json`)) as { metadata: Record<string, unknown> }
    t.match(pod.metadata, {
      labels: { app: 'mypod', creator: 'mypod-controller' },
      annotations: { app: 'mypod' },
      ownerReferences: [
        { apiVersion: 'harryyann.github.io/v1', kind: 'MyPod', name: 'mypod-sample', controller: true, blockOwnerDeletion: true },
      ],
    })
    const refused = await kubectl('create -f config/samples/invalid/mypod-several-errors.yaml')
    t.equal(refused.code, 1)
    t.match(refused.stderr, /^The MyPod "mypod-several-errors" is invalid: \n(\* spec\..*\n){2,}$/)
    t.equal(
      await ok(`delete mypod mypod-sample ${ns}`),
      'mypod.harryyann.github.io "mypod-sample" deleted from test-mypod namespace\n'.replace(
        / from.*\n/,
        (await version()) >= 34 ? '$&' : '\n',
      ),
    )
    await until('the Pod is gone', async () => (await ok(`get pods ${ns} -o name`)) === '')
  })

  t.test('get', async (t) => {
    await ok('create -f -', manifest('get-it'))
    await ok(`wait mypod/get-it ${ns} --for=condition=Ready --timeout=10s`)
    t.match(await ok(`get mypod get-it ${ns}`), /^NAME +PHASE +PODIP +AGE\nget-it +Running +[\d.]+ +\d+s\n$/)
    t.match(await ok(`get mypod get-it ${ns} -o yaml`), /^apiVersion: harryyann\.github\.io\/v1\nkind: MyPod\n/)
    t.match(JSON.parse(await ok(`get mypods ${ns} -o json`)), { kind: 'List', items: [{ kind: 'MyPod' }] })
    t.equal(await ok(`get mypod get-it ${ns} -o jsonpath={.spec.podSpec.containers[0].name}`), 'main')
    t.equal(await ok(`get mypod get-it ${ns} -o name`), 'mypod.harryyann.github.io/get-it\n')
    t.equal(
      (await kubectl(`get mypod absent ${ns}`)).stderr,
      'Error from server (NotFound): mypods.harryyann.github.io "absent" not found\n',
    )
    t.match(await ok(`get mypods ${ns} --field-selector metadata.name=get-it -o name`), /get-it/)
    t.equal(await ok(`get mypods ${ns} -l app=none -o name`), '')
  })

  t.test('get --watch shows what happens', async (t) => {
    const watch = kubectl(`get mypods ${ns} --watch --output-watch-events --request-timeout=3s`)
    await ok('create -f -', manifest('watched'))
    const { stdout } = await watch
    t.match(stdout, /ADDED +watched /)
    t.match(stdout, /MODIFIED +watched +Running/)
  })

  t.test('describe and events', async (t) => {
    await ok('create -f -', manifest('described'))
    await ok(`wait mypod/described ${ns} --for=condition=Ready --timeout=10s`)
    await until('the event is there', async () => /Created/.test(await ok(`events ${ns} --for mypod/described`)))
    const described = await ok(`describe mypod described ${ns}`)
    t.match(described, /Name: +described\nNamespace: +test-mypod\n/)
    t.match(described, /Pod Phase: +Running/)
    t.match(described, /Normal +Created +\S+ +proreus +pod described created/)
    t.match(await ok(`events ${ns} --for mypod/described`), /Normal +Created +MyPod\/described +pod described created/)
    t.match(await ok(`describe pod described ${ns}`), /Controlled By: +MyPod\/described/)
  })

  t.test('apply, patch, label and annotate', async (t) => {
    t.equal(await ok('apply -f -', manifest('changed')), 'mypod.harryyann.github.io/changed created\n')
    t.equal(await ok('apply -f -', manifest('changed')), 'mypod.harryyann.github.io/changed unchanged\n')
    t.equal(await ok('apply -f -', manifest('changed').replace('pause:1', 'pause:2')), 'mypod.harryyann.github.io/changed configured\n')
    await until(
      'the Pod has the new image',
      async () => (await ok(`get pod changed ${ns} -o jsonpath={.spec.containers[0].image}`)) === 'example.com/pause:2',
    )
    t.equal(
      await ok(`patch mypod changed ${ns} --type merge -p {"spec":{"podLabels":{"a":"b"}}}`),
      'mypod.harryyann.github.io/changed patched\n',
    )
    t.equal(
      await ok(`patch mypod changed ${ns} --type json -p [{"op":"add","path":"/spec/podLabels/c","value":"d"}]`),
      'mypod.harryyann.github.io/changed patched\n',
    )
    await until('the Pod has the labels', async () => (await ok(`get pods ${ns} -l a=b,c=d -o name`)) === 'pod/changed\n')
    t.match(await ok(`label mypod changed ${ns} x=y`), /changed labeled/)
    t.match(await ok(`annotate mypod changed ${ns} note=it`), /changed annotated/)
    t.equal(await ok(`get mypod changed ${ns} -o jsonpath={.metadata.labels.x}/{.metadata.annotations.note}`), 'y/it')
    t.match(await ok(`apply --server-side -f -`, manifest('server-side')), /server-side serverside-applied/)
    t.match(await ok(`apply --dry-run=server -f -`, manifest('dry')), /dry created \(server dry run\)/)
    t.equal((await kubectl(`get mypod dry ${ns}`)).code, 1)
    const diff = await kubectl('diff -f -', manifest('changed').replace('pause:1', 'pause:3'))
    t.equal(diff.code, 1)
    t.match(diff.stdout, /^\+ +- image: example.com\/pause:3|^\+ +image: example.com\/pause:3/m)
  })

  t.test('delete with and without waiting', async (t) => {
    await ok('create -f -', manifest('gone-1'))
    await ok('create -f -', manifest('gone-2'))
    t.match(await ok(`delete mypod gone-1 ${ns} --wait=false`), /"gone-1" deleted/)
    t.match(await ok(`delete mypod gone-2 ${ns}`), /"gone-2" deleted/)
    t.match((await kubectl(`delete mypod gone-2 ${ns}`)).stderr, /mypods\.harryyann\.github\.io "gone-2" not found/)
    await ok('create -f -', manifest('orphaned'))
    await until('its Pod is there', async () => (await kubectl(`get pod orphaned ${ns}`)).code === 0)
    await ok(`delete mypod orphaned ${ns} --cascade=orphan`)
    t.equal(await ok(`get pod orphaned ${ns} -o jsonpath={.metadata.ownerReferences}`), '')
    await ok(`delete pod orphaned ${ns} --now`)
  })

  t.test('explain, api-resources, api-versions, version, cluster-info', async (t) => {
    const explained = await ok('explain mypod.spec --recursive')
    t.match(explained, /KIND: +MyPod\nVERSION: +v1|KIND: +MyPod/)
    t.match(explained, /podAnnotations\t<map\[string\]string>/)
    t.match(explained, /podSpec\t<Object> -required-/)
    t.match(explained, /containers\t<\[\]Object> -required-/)
    t.match(await ok('api-resources --api-group=harryyann.github.io'), /mypods +harryyann\.github\.io\/v1 +true +MyPod/)
    t.match(await ok('api-versions'), /^harryyann\.github\.io\/v1$/m)
    t.match(await ok('version'), /Server Version: v1\.36/)
  })

  t.test('a namespace takes its content with it', async (t) => {
    await ok('create -f -', 'apiVersion: v1\nkind: Namespace\nmetadata: { name: short-lived }')
    await ok('create -f -', manifest('inside').replace('namespace: test-mypod', 'namespace: short-lived'))
    await until('its Pod is there', async () => (await kubectl('get pod inside -n short-lived')).code === 0)
    await ok('delete namespace short-lived --timeout=20s')
    t.equal(await ok('get mypods,pods -n short-lived -o name'), '')
  })

  async function version(): Promise<number> {
    const { clientVersion } = JSON.parse(await ok('version --client -o json')) as { clientVersion: { minor: string } }
    return Number.parseInt(clientVersion.minor, 10)
  }
})
