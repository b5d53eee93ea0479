"""Everyday tasks through the client that openapi-python-client writes: each call is answered with 200."""

import json
import os
from importlib import import_module
from io import BytesIO

from client import AuthenticatedClient, models, types

with open(os.environ['CLIENTS_WORLD']) as file:
    world = json.load(file)
credential = world['credentials']['openapi-python-client']
client = AuthenticatedClient(base_url=world['dashboard'], token=credential, prefix='')
state = {}


def task(flow):
    def run(act):
        line = {'client': 'openapi-python-client', 'flow': flow}
        try:
            act()
        except Exception as error:
            line['failed'] = f'{type(error).__name__}: {error}'
        print(json.dumps(line), flush=True)

    return run


def call(name, *words, **named):
    """The answer of an operation, which must be 200."""
    answer = import_module(f'client.api.{name}').sync_detailed(*words, client=client, **named)
    assert answer.status_code == 200, f'{name}: {answer.status_code} {answer.content[:500]}'
    return answer.parsed


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
    return {id: {'api_id': id, 'versions': ['Default']}}


@task('an API: create, read, change')
def _():
    key = {'type': 'apiKey', 'in': 'header', 'name': 'Authorization'}
    flows = {'clientCredentials': {'tokenUrl': 'oauth/token', 'scopes': {}}}
    made = call('apis.create_openapi_api', body=definition('attrs-tasks', key))
    call('apis.create_openapi_api', body=definition('attrs-shop', {'type': 'oauth2', 'flows': flows}))
    read = call('apis.get_openapi_api', made.id)
    call('apis.update_openapi_api', made.id, body=read)
    assert call('apis.get_openapi_api', made.id).to_dict() == read.to_dict()


@task('a policy: create, read, change')
def _():
    gold = {'id': 'attrs-gold', 'name': 'Gold', 'active': True, 'rate': 5, 'per': 60}
    app = {'id': 'attrs-app', 'name': 'App', 'access_rights': rights('attrs-shop')}
    call('policies.create_policy', body=models.Policy.from_dict({**gold, 'access_rights': rights('attrs-tasks')}))
    call('policies.create_policy', body=models.Policy.from_dict(app))
    policy = call('policies.get_policy', 'attrs-gold')
    policy.tags = ['changed']
    call('policies.update_policy', 'attrs-gold', body=policy)


@task('a key: create, read, change and keep its limits')
def _():
    session = models.Session.from_dict({'rate': 5, 'per': 60, 'access_rights': rights('attrs-tasks')})
    key = call('keys.create_key', body=session).key_hash
    read = call('keys.get_key', key, hashed='1').data
    read.tags = ['changed']
    call('keys.update_key', key, body=read, hashed='1')
    assert call('keys.get_key', key, hashed='1').data.rate == 5


@task('an OAuth client: create, read')
def _():
    body = models.OauthClientInput(redirect_uri='https://app.example/', policy_id='attrs-app')
    state['app'] = call('oauth_clients.create_oauth_client', 'attrs-shop', body=body).client_id
    call('oauth_clients.get_oauth_client', 'attrs-shop', state['app'])


@task('revoke tokens')
def _():
    call('oauth_clients.list_api_oauth_client_tokens', 'attrs-shop', state['app'])
    call('oauth_clients.revoke_api_oauth_client_tokens', 'attrs-shop', state['app'])


@task('a developer with a subscription')
def _():
    entry = models.CatalogueEntryInput(name='Gold', policy_id='attrs-gold', show=True)
    call('portal.create_catalogue', body=models.CatalogueInput(apis=[entry]))
    developer = call('developers.create_developer', body=models.DeveloperInput(email='dev@example.com')).message
    access = models.AccessInput(apply_policies=['attrs-gold'])
    call('developers.create_developer_subscription', developer, body=access)


@task('approve a request')
def _():
    configuration = models.PortalConfigurationInput(require_key_approval=True, enable_multi_selection=True)
    call('portal.update_portal_configuration', body=configuration)
    other = call('developers.create_developer', body=models.DeveloperInput(email='other@example.com')).message
    wish = models.KeyRequestInput(by_user=other, apply_policies=['attrs-gold'])
    call('key_requests.approve_key_request', call('key_requests.create_key_request', body=wish).message)


@task('analytics')
def _():
    call('analytics.list_usage_by_api', 1, 1, 2024, 31, 12, 2024)


@task('users and groups')
def _():
    readers = {'apis': 'read'}
    group = models.UserGroupInput.from_dict({'name': 'Readers', 'user_permissions': readers})
    person = {'first_name': 'Ada', 'last_name': 'L', 'email_address': 'ada.attrs@example.com'}
    secret = {'password': 'a-Long-enough-1', 'active': True, 'user_permissions': readers}
    body = models.UserInput.from_dict({**person, **secret})
    body.group_id = call('user_groups.create_user_group', body=group).meta
    call('users.get_user', call('users.create_user', body=body).meta)
    call('users.list_users')


@task('labels')
def _():
    call('labels.create_label', body=models.LabelInput(name='Team', values=['a', 'b']))
    call('labels.list_labels')


@task('node tags')
def _():
    call('system.list_placement', tags='edge')
    call('system.list_nodes')


@task('certificates')
def _():
    file = types.File(payload=BytesIO(world['certificate'].encode()), file_name='server.pem')
    id = call('certificates.create_certificate', body=models.Upload(file=file)).id
    call('certificates.get_certificate', id)
    call('certificates.delete_certificate', id)
