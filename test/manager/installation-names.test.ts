import t from 'tap'
import { installationName, installationOf, isInstaller, labelsOf, namesOf } from '../../src/manager/installation-names.ts'

const hello = { name: 'hello' }
const bye = { name: 'bye' }

t.test('all names derive from the name of the installation', async (t) => {
  t.strictSame(namesOf('hello'), {
    installation: 'hello',
    namespace: 'hello-system',
    webhookService: 'hello-webhook',
    caSecret: 'hello-webhook-ca',
    leaderLease: 'hello-leader',
    mutatingConfiguration: 'hello-mutating',
    validatingConfiguration: 'hello-validating',
    managerRole: 'hello-manager',
    installer: 'hello-install',
    conversionInstaller: 'hello-install-conversion',
  })
})

t.test('objects of an installation are labelled with its name', (t) => {
  t.strictSame(labelsOf('hello'), { 'app.kubernetes.io/name': 'hello', 'app.kubernetes.io/part-of': 'hello' })
  t.end()
})

t.test('the name of an installation is the given one, or that of its only operator', async (t) => {
  t.equal(installationName([hello]), 'hello')
  t.equal(installationName([hello], 'team-a'), 'team-a')
  t.equal(installationName([hello, bye], 'team-a'), 'team-a')
  t.equal(installationName([]), 'proreus')
})

t.test('several operators without a name are refused', async (t) => {
  t.throws(() => installationName([hello, bye]), {
    code: 'PRO_CONFIG_INVALID',
    message:
      'The installation of the operators hello, bye has no name: set it with --name (`name` in the options of `run`); it is part of the names of its webhook configurations, namespace and Secret.',
  })
})

t.test('an invalid name is refused with the reason', async (t) => {
  const longest = 'a'.repeat(52)
  t.equal(installationName([hello], longest), longest)
  t.throws(() => installationName([hello], `${longest}a`), {
    code: 'PRO_CONFIG_INVALID',
    message: `"${longest}a" cannot be the name of an installation: must be no more than 52 characters, so that names like ${longest}a-webhook-ca have at most 63.`,
  })
  const cases: [string, RegExp][] = [
    ['Hello', /^"Hello" cannot be the name of an installation: a DNS-1035 label must consist of/],
    ['3scale', /must consist of .*start with an alphabetic character/],
    ['', /^"" cannot be the name/],
    ['a.b', /a DNS-1035 label/],
  ]
  for (const [name, message] of cases) {
    t.throws(() => installationName([hello], name), { code: 'PRO_CONFIG_INVALID', message }, name)
    t.throws(() => installationName([hello], name), { message: /^(?!.*--name)/ }, 'without the flag when it was passed as an option')
  }
  t.throws(
    () => installationName([{ name: '3scale' }]),
    {
      message: /^"3scale" cannot be .*: choose another one with --name \(`name` in the options of `run`\)\.$/,
    },
    'also the name of the operator',
  )
})

t.test('the field managers of installers are recognized', async (t) => {
  const { installer, conversionInstaller } = namesOf('team-a')
  for (const manager of [installer, conversionInstaller]) {
    t.ok(isInstaller(manager))
    t.equal(installationOf(manager), 'team-a')
  }
  for (const manager of ['kubectl', 'team-a', 'installer', 'team-a-install-x', 'team-a-conversion']) t.notOk(isInstaller(manager))
})
