"""Everyday tasks through the client that openapi-generator writes for Python: each call is answered with 200."""

import json
import os

from openapi_client import ApiClient, Configuration, api, models

with open(os.environ['CLIENTS_WORLD']) as file:
    world = json.load(file)
client = ApiClient(Configuration(host=world['dashboard']))
client.set_default_header('Authorization', world['credentials']['python'])
state = {}


def task(flow):
    def run(act):
        line = {'client': 'openapi-generator-cli', 'flow': f'Python: {flow}'}
        try:
            act()
        except Exception as error:
            line['failed'] = f'{type(error).__name__}: {error}'
        print(json.dumps(line), flush=True)

    return run


def definition(id, scheme):
    text = {
        'openapi': '3.0.3',
        'info': {'title': id, 'version': '1'},
        'paths': {},
        'components': {'securitySchemes': {'own': scheme}},
        'security': [{'own': []}],
        'x-svc-api-gateway': {
            'info': {'id': id, 'name': id, 'state': {'active': True}},
            'upstream': {'url': 'http://127.0.0.1:9/'},
            'server': {
                'listenPath': {'value': f'/{id}/', 'strip': True},
                'authentication': {'enabled': True, 'securitySchemes': {'own': {'enabled': True}}},
            },
        },
    }
    return models.OpenapiDefinition.from_dict(text)


def rights(id):
    return {id: models.AccessRight(api_id=id, versions=['Default'])}


@task('an API: create, read, change')
def _():
    apis = api.ApisApi(client)
    key = {'type': 'apiKey', 'in': 'header', 'name': 'Authorization'}
    flows = {'clientCredentials': {'tokenUrl': 'oauth/token', 'scopes': {}}}
    made = apis.create_openapi_api(definition('python-tasks', key))
    apis.create_openapi_api(definition('python-shop', {'type': 'oauth2', 'flows': flows}))
    read = apis.get_openapi_api(made.id)
    apis.update_openapi_api(made.id, read)
    assert apis.get_openapi_api(made.id).to_dict() == read.to_dict()


@task('a policy: create, read, change')
def _():
    policies = api.PoliciesApi(client)
    gold = {'id': 'python-gold', 'name': 'Gold', 'active': True, 'rate': 5, 'per': 60}
    policies.create_policy(models.Policy(**gold, access_rights=rights('python-tasks')))
    policies.create_policy(models.Policy(id='python-app', name='App', access_rights=rights('python-shop')))
    policy = policies.get_policy('python-gold')
    policy.tags = ['changed']
    policies.update_policy('python-gold', policy)


@task('a key: create, read, change and keep its limits')
def _():
    keys = api.KeysApi(client)
    made = keys.create_key(models.Session(rate=5, per=60, access_rights=rights('python-tasks')))
    session = keys.get_key(made.key_hash, hashed='1').data
    session.tags = ['changed']
    keys.update_key(made.key_hash, session, hashed='1')
    assert keys.get_key(made.key_hash, hashed='1').data.rate == 5


@task('an OAuth client: create, read')
def _():
    apps = api.OauthClientsApi(client)
    body = models.OauthClientInput(redirect_uri='https://app.example/', policy_id='python-app')
    state['app'] = apps.create_oauth_client('python-shop', body).client_id
    apps.get_oauth_client('python-shop', state['app'])


@task('revoke tokens')
def _():
    apps = api.OauthClientsApi(client)
    apps.list_api_oauth_client_tokens('python-shop', state['app'])
    apps.revoke_api_oauth_client_tokens('python-shop', state['app'])


@task('a developer with a subscription')
def _():
    developers = api.DevelopersApi(client)
    entry = models.CatalogueEntryInput(name='Gold', policy_id='python-gold', show=True)
    api.PortalApi(client).create_catalogue(models.CatalogueInput(apis=[entry]))
    developer = developers.create_developer(models.DeveloperInput(email='dev@example.com')).message
    developers.create_developer_subscription(developer, models.AccessInput(apply_policies=['python-gold']))


@task('approve a request')
def _():
    requests = api.KeyRequestsApi(client)
    configuration = models.PortalConfigurationInput(require_key_approval=True, enable_multi_selection=True)
    api.PortalApi(client).update_portal_configuration(portal_configuration_input=configuration)
    other = api.DevelopersApi(client).create_developer(models.DeveloperInput(email='other@example.com')).message
    wish = models.KeyRequestInput(by_user=other, apply_policies=['python-gold'])
    requests.approve_key_request(requests.create_key_request(wish).message)


@task('analytics')
def _():
    api.AnalyticsApi(client).list_usage_by_api(1, 1, 2024, 31, 12, 2024)


@task('users and groups')
def _():
    users = api.UsersApi(client)
    readers = {'apis': 'read'}
    group = api.UserGroupsApi(client).create_user_group(models.UserGroupInput(name='Readers', user_permissions=readers))
    person = {'first_name': 'Ada', 'last_name': 'L', 'email_address': 'ada.python@example.com'}
    body = models.UserInput(
        **person, password='a-Long-enough-1', active=True, group_id=group.meta, user_permissions=readers
    )
    users.get_user(users.create_user(body).meta)
    users.list_users()


@task('labels')
def _():
    labels = api.LabelsApi(client)
    labels.create_label(models.LabelInput(name='Team', values=['a', 'b']))
    labels.list_labels()


@task('node tags')
def _():
    system = api.SystemApi(client)
    system.list_placement(tags='edge')
    system.list_nodes()


@task('certificates')
def _():
    certificates = api.CertificatesApi(client)
    id = certificates.create_certificate(('server.pem', world['certificate'].encode())).id
    certificates.get_certificate(id)
    certificates.delete_certificate(id)
