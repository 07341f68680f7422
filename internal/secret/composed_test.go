package secret

import "testing"

func TestComposedValuesAreNoSecrets(t *testing.T) {
	for _, text := range []string{
		"_authToken=743b294a-cd03-11ec-9d64-0242ac120002",
		"cloud_password = \"a-fake-short-key-77\"",
		"API_TOKEN=invalid-t0k3n-9f8e7d6c5b4a",
		"https://user:pass@db.test/x",
		"MTAyOTQ4MTN5OTU5MTDwMEcxNg.GSqWyi.sbqw8msQR3Wi6vPUzeIWy_P0vJbB0UuRVjH",
		"DOTENV_PUBLIC_KEY=\"02f9a1c37be04d5586cb9e0a4417fd2283\"",
	} {
		if found := Find(text); len(found) != 0 {
			t.Errorf("%s: found %v", text, found)
		}
	}
	for _, text := range []string{
		"_authToken=6f1c2a90-8d3b-4e57-b1aa-93d07c5e2f41",
		"api_key = q8Zr2LmX0vTn5KcW7yBd3HfJ",
		"MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
		"https://user:pa55word9@db.test/x",
		"softlayer_password = \"abcd1234abcd1234abcd1234abcd1234\"",
		"AIzaSyD3q8Zr2LmX0vTn5KcW7yBd3HfJ9pQs1Ua",
		"AWS_SECRET_KEY=\"wJ4rXUtnFEMI/K7MDENGq8Zr2LmX0vTn5KcW7yBd\"",
		"DOTENV_PRIVATE_KEY=\"02f9a1c37be04d5586cb9e0a4417fd2283\"",
	} {
		if len(Find(text)) == 0 {
			t.Errorf("%s: nothing found", text)
		}
	}
}
